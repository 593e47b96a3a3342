"""Rules of the code layout that no linter knows."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("utils", "grader", "hub", "tests", "bench")
MODULES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
OURS = {"utils", "grader", "hub", "tests", "bench", "solutions", "notebooks"}
ANYWHERE = ("utils", "grader", "hub", "bench", "tests")

# The ground floor of the checks and the rooms above it: what lessons and the grader may use.
GROUND = tuple(
    f"utils.checks.{name}"
    for name in (
        "case_results", "combining", "compare", "discovery", "exercise", "explain", "mime",
        "observation", "observe", "points", "render", "variation", "verdict",
    )
)  # fmt: skip

# What the modules of a package may import of ours, by package; the most exact entry counts. A star
# stands for any one name. Everything below a package that is named is meant too.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "utils": (),
    "utils.reference": ("utils.reference",),
    "utils.plots": ("utils.plots", "utils.palette"),
    "utils.drawn": ("utils.drawn", "utils.palette"),
    "utils.experiments": ("utils.experiments", "utils.plots"),
    "utils.download": ("utils.errors",),
    "utils.published": ("utils.download",),
    "utils.offline": ("utils.download", "utils.published"),
    "utils.treebank": ("utils.treebank", "utils.download", "utils.errors", "utils.published"),
    "utils.own_page": ("utils.own_page", "utils.errors", "utils.palette", "utils.treebank"),
    "utils.pretrained": (
        "utils.pretrained", "utils.download", "utils.errors", "utils.experiments",
        "utils.published", "utils.treebank",
    ),
    "utils.training": (
        "utils.training", "utils.experiments", "utils.reference", "utils.errors", "utils.plots",
    ),
    "utils.kernel": ("utils.kernel", "utils.card", "utils.palette", "utils.words"),
    "utils.notebook": (
        "utils.notebook", "utils.kernel", "utils.checks.api", "utils.checks.registry",
        "utils.reference", "utils.errors", "utils.progress", "utils.words",
    ),
    "utils.progress": (
        "utils.progress", "utils.kernel", "utils.card", "utils.palette", "utils.words",
    ),
    "utils.lab": (
        "utils.lab", "utils.progress", "utils.checks.mime", "utils.errors",
        "utils.text_files", "utils.drawn", "utils.offline",
    ),
    "utils.checks": ("utils.checks.api",),
    "utils.checks.api": (
        "utils.checks.registry", "utils.checks.judge", "utils.checks.explain",
        *GROUND, "utils.checks.live", "utils.progress", "utils.kernel",
    ),
    # What a check does beside judging, in notebooks only.
    "utils.checks.live": (*GROUND,),
    # A tower that a value climbs once.
    "utils.checks.observation": (),
    "utils.checks.variation": (),
    "utils.checks.points": (),
    "utils.checks.mime": (),
    "utils.checks.discovery": (),
    "utils.checks.combining": (),
    "utils.checks.exercise": ("utils.checks.observation", "utils.checks.variation"),
    "utils.checks.compare": ("utils.checks.compare", "utils.checks.observation"),
    "utils.checks.verdict": (
        "utils.checks.compare", "utils.checks.exercise", "utils.checks.observation",
        "utils.checks.points",
    ),
    "utils.checks.render": (
        "utils.checks.compare", "utils.checks.mime", "utils.checks.observation",
        "utils.checks.verdict", "utils.card", "utils.palette", "utils.words",
    ),
    "utils.checks.observe": (
        "utils.checks.observe", "utils.checks.combining", "utils.checks.exercise",
        "utils.checks.observation", "utils.checks.variation", "utils.checks.verdict",
        "utils.words",
    ),
    "utils.checks.case_results": (
        "utils.checks.compare", "utils.checks.exercise", "utils.checks.observation",
        "utils.checks.observe", "utils.checks.verdict",
    ),
    "utils.checks.explain": (
        "utils.checks.explain", "utils.checks.case_results", "utils.checks.combining",
        "utils.checks.compare", "utils.checks.exercise", "utils.checks.observation",
        "utils.checks.observe", "utils.checks.variation", "utils.checks.verdict", "utils.words",
    ),
    "utils.checks.judge": (
        "utils.checks.explain", "utils.checks.case_results", "utils.checks.compare",
        "utils.checks.exercise", "utils.checks.observation", "utils.checks.observe",
        "utils.checks.verdict",
    ),
    "utils.checks.registry": (
        "utils.checks.lessons", *GROUND, "utils.checks.bank",
    ),
    "utils.checks.bank": ("utils.checks.bank", *GROUND),
    "utils.card": ("utils.palette",),
    "utils.checks.authoring": (
        *GROUND, "utils.checks.authoring", "utils.words",
    ),
    "utils.checks.lessons": (
        "utils.checks.lessons", *GROUND, "utils.checks.authoring",
        "utils.experiments", "utils.reference",
    ),
    # What may stand beside student code, which no right or wrong answer of a lesson may.
    "utils.checks.lessons.*.probes": (
        "utils.checks.lessons.*.probes", "utils.checks.lessons.inputs",
        *GROUND, "utils.checks.authoring",
        "utils.experiments.broken_layer",
    ),
    "grader": (
        "grader.errors", "grader.cli", "grader.mishaps", "grader.usage", "utils.text_files",
    ),
    "grader.notebook_file": (
        "grader.authoring.lesson", "grader.notebook_limits", "grader.regular_file",
    ),
    "grader.bundle": ("grader.bundle", "grader.errors", "utils.lab"),
    "grader.authoring": ("grader.authoring", "grader.errors", "utils.checks.bank.source"),
    "grader.authoring.slides": ("grader.authoring", "utils.drawn"),
    "grader.gradebook": ("grader.gradebook", "grader.authoring.lesson", "grader.errors"),
    "grader.course": (
        "grader.course", "grader.gradebook", "grader.authoring", "grader.errors",
        "grader.notebook_file", "grader.person_table", "grader.regular_file",
        *GROUND, "utils.lab.settings", "utils.text_files", "utils.treebank.predictions",
    ),
    "grader.calendar": ("grader.calendar", "grader.course", "grader.errors", "grader.person_table"),
    # What a class adds to the known mistakes is held against the right answers.
    "grader.authoring.own_mistakes": (
        "grader.authoring", "grader.errors", "utils.checks.bank", "utils.checks.registry",
        "utils.text_files",
    ),
    "grader.nbgrader_plugins": (
        "grader.nbgrader_plugins", "grader.authoring", "grader.course", "grader.regular_file",
        "grader.notebook_file",
    ),
    # Both engines run what one module arranges, from the lesson's text and the submission's alone.
    "grader.nbgrader_plugins.submission": (
        "grader.authoring", "grader.course", "grader.reading.arrangement",
        "grader.reading.cell_notes", "grader.reading.other_lessons", "grader.reading.submission",
    ),
    # What guards JupyterLab's pages is the learners' and the instructors'.
    "grader.formgrader": ("grader.formgrader", "utils.lab.assignments"),
    "grader.sandbox": ("grader.sandbox",),
    # Walls know nothing of what is behind them.
    "grader.sandbox.walls": ("grader.sandbox.walls",),
    "grader.static_analysis": ("grader.static_analysis", "utils.checks.registry"),
    "grader.workers": (
        "grader.workers", "grader.sandbox", "grader.notebook_limits", "utils.checks",
        *GROUND, "utils.checks.registry",
    ),
    # Cells, and what stands beside them, know of no jobs.
    "grader.workers.notebook": ("grader.workers.notebook",),
    # It reads the stand-ins' code and runs none of it.
    "grader.workers.lending": ("utils.reference", "utils.checks.registry"),
    # From a hand-in to a plan, to an outcome, to the records; then a class.
    "grader.reading": (
        "grader.reading", "grader.workers.notebook", "grader.static_analysis", "grader.sandbox",
        "grader.course.wording", "grader.authoring", "grader.errors", "grader.notebook_file",
        "grader.notebook_limits", *GROUND, "utils.checks.registry", "utils.reference",
    ),
    "grader.judging": (
        "grader.judging", "grader.reading", "grader.workers", "grader.sandbox",
        "grader.authoring", "grader.notebook_file", "grader.notebook_limits",
        "grader.regular_file", *GROUND, "utils.checks.judge", "utils.checks.registry",
    ),
    "grader.recording": (
        "grader.recording", "grader.judging.outcome", "grader.reading", "grader.workers.protocol",
        "grader.course", "grader.authoring", "grader.errors", "grader.notebook_file", *GROUND,
    ),
    "grader.grading": (
        "grader.grading", "grader.recording", "grader.judging", "grader.reading",
        "grader.workers", "grader.sandbox", "grader.calendar", "grader.course",
        "grader.gradebook", "grader.authoring", "grader.errors", "grader.notebook_file",
        "grader.notebook_limits", "grader.regular_file", "utils.text_files",
    ),
    # It reads the lessons' checks as text, to see what has changed.
    "grader.judging.judged_by": (
        "grader.authoring", "utils.checks.lessons", "utils.checks.bank.table",
    ),
    "grader.cluster": (
        "grader.cluster", "grader.judging", "grader.reading", "grader.workers", "grader.sandbox",
        "grader.course",
        "grader.authoring", "grader.errors", *GROUND,
    ),
    # Dask's workers import it, and need nothing of the course for it.
    "grader.cluster.task": ("grader.cluster.pipes",),
    "grader.predictions": (
        "grader.predictions", "grader.course", "grader.errors", "grader.regular_file",
        "utils.text_files", "utils.treebank",
    ),
    "grader.lms": (
        "grader.lms", "grader.calendar", "grader.course", "grader.authoring", "grader.errors",
        "grader.notebook_file",
        "grader.notebook_limits", "grader.person_table", "grader.regular_file",
    ),
    "grader.pages": (
        "grader.pages", "grader.nbgrader_plugins", "grader.course", "grader.authoring",
        "grader.errors", "grader.regular_file", *GROUND, "utils.palette",
    ),
    # The public site; its front page shows what a check really says.
    "grader.website": (
        "grader.website", "grader.authoring", "grader.errors", "utils.checks.api",
        "utils.checks.render",
    ),
    "grader.commands": (
        "grader", "utils.lab", "utils.treebank", "utils.errors", "utils.checks.registry",
        *GROUND, "utils.checks.bank",
    ),
    # The hub itself is small: what needs the gradebook or torch runs in a process of its own.
    "hub": (
        "hub", "grader.errors", "grader.usage", "grader.authoring.files", "grader.bundle.pack",
        "grader.course.private", "utils.lab", "utils.text_files",
    ),
    "hub.class_list": ("grader.course", "grader.errors", "grader.lms"),
    "solutions": ("utils",),
    "bench": ("bench", "grader", "hub", "utils", "tests"),
    "tests": ANYWHERE,
}  # fmt: skip


def name_of(path: Path, root: Path = ROOT) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def imported(source: str, package: str) -> Iterator[str]:
    """Every module of ours that a source names; ``from utils import x`` names ``utils.x``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: -node.level] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def matches(name: str, pattern: str) -> bool:
    """Whether a dotted name is a pattern's, or lies below it."""
    parts, wanted = name.split("."), pattern.split(".")
    return len(parts) >= len(wanted) and all(
        w in ("*", p) for p, w in zip(parts, wanted, strict=False)
    )


def allowed_for(module: str) -> tuple[str, ...]:
    patterns = [pattern for pattern in MAY_IMPORT if matches(module, pattern)]
    return MAY_IMPORT[max(patterns, key=lambda pattern: pattern.count("."))]


def may_import(module: str, name: str) -> bool:
    if name.split(".", maxsplit=1)[0] not in OURS:
        return True
    # `from utils.checks import check` names an object of a package, not a module below it.
    return any(matches(name, allowed) for allowed in allowed_for(module)) or (
        name.rpartition(".")[0] in allowed_for(module)
    )


def imports_against_the_rule(source: str, module: str) -> set[str]:
    return {name for name in imported(source, module) if not may_import(module, name)}


@pytest.mark.parametrize("folder", ["utils", "grader", "hub", "solutions", "bench", "tests"])
def test_imports_run_one_way(folder):
    wrong = {
        name_of(path): found
        for path in (ROOT / folder).rglob("*.py")
        if (found := imports_against_the_rule(path.read_text(encoding="utf-8"), name_of(path)))
    }
    assert wrong == {}


PLANTED = {
    "utils imports the grader": ("utils.plots", "from grader.authoring import lesson"),
    "from utils import x": ("utils.reference.attention.heads", "from utils import checks"),
    "the framework a lesson": (
        "utils.checks.compare.compare", "from utils.checks.lessons.encoder import variants",
    ),
    "authoring a lesson": (
        "utils.checks.authoring.calling", "import utils.checks.lessons.encoder.variants",
    ),
    "the registry the api": ("utils.checks.registry", "from utils.checks import api"),
    "verdict the renderer by api": (
        "utils.checks.verdict", "from utils.checks.api import show",
    ),
    "probes an answer": (
        "utils.checks.lessons.encoder.probes.using",
        "from utils.checks.lessons.encoder.answers.layer import EXERCISES",
    ),
    "probes a stand-in": (
        "utils.checks.lessons.encoder.probes.using", "from utils.reference import modules",
    ),
    "probes a neighbour": (
        "utils.checks.lessons.encoder.probes.using",
        "def call():\n    from utils.checks.lessons.encoder import variants",
    ),
    "probes a neighbour, relatively": (
        "utils.checks.lessons.encoder.probes.using", "from ..variants import LayerVariant",
    ),
    "a reference a check": ("utils.reference.attention.heads", "from utils.checks import check"),
    "experiments training": ("utils.experiments.train", "import utils.training.trainer"),
    "the sandbox the course": ("grader.sandbox.task", "from grader.errors import CourseError"),
    "workers a plan": ("grader.workers.pool", "from grader.reading import plan"),
    "the course grading": ("grader.course.report", "from grader.judging.outcome import Status"),
    "authoring the course": ("grader.authoring.lesson", "from grader import course"),
    "a lesson the grader": ("solutions.02_attention", "import grader"),
    "the hub the gradebook": ("hub.roster", "from grader.course.course import GradingCourse"),
    "the grader the hub": ("grader.commands.teach", "from hub import settings"),
}  # fmt: skip


@pytest.mark.parametrize(("module", "source"), PLANTED.values(), ids=PLANTED)
def test_an_import_against_the_rule_is_found(module, source):
    assert imports_against_the_rule(f"import torch\n{source}\n", module)


def test_every_package_has_a_rule_of_its_own():
    packages = {
        ".".join(name_of(path).split(".")[:2])
        for folder in ("utils", "grader")
        for path in (ROOT / folder).glob("*/*.py")
    }
    assert packages - MAY_IMPORT.keys() == set()


def package_of(module: str) -> str:
    """The package that a module belongs to, as the table above names packages."""
    parts = module.split(".")
    return ".".join(parts[:3] if parts[:2] == ["utils", "checks"] else parts[:2])


def uses(folder: str) -> dict[str, set[str]]:
    """Package -> packages that its modules import."""
    known = {name_of(path) for path in (ROOT / folder).rglob("*.py")}
    found: dict[str, set[str]] = {}
    for path in (ROOT / folder).rglob("*.py"):
        module = name_of(path)
        for name in imported(path.read_text(encoding="utf-8"), module):
            target = name if name in known else name.rpartition(".")[0]
            if target in known and package_of(target) != package_of(module):
                found.setdefault(package_of(module), set()).add(package_of(target))
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Names that use one another in a circle; none, if there is none."""
    left = {name: set(targets) for name, targets in graph.items()}
    while done := [name for name in left if not left[name] & left.keys()]:
        for name in done:
            del left[name]
    return sorted(left)


@pytest.mark.parametrize("folder", ["utils", "grader"])
def test_packages_use_one_another_in_no_circle(folder):
    assert circle(uses(folder)) == []


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c", "d"]


def mirrored(path: Path) -> str:
    return path.relative_to(ROOT / "tests" / "unit").parent.as_posix()


def test_unit_tests_lie_where_the_package_lies_that_they_test():
    packages = {path.parent.relative_to(ROOT).as_posix() for path in MODULES}
    found = {mirrored(path) for path in (ROOT / "tests" / "unit").rglob("test_*.py")}
    assert found - packages == {"project"}
