"""What may be loaded where student code will run: the package decides, not a file's name."""

import subprocess
import tempfile
from pathlib import Path

import pytest

from grader.workers.warm_up import may_stand_beside_students, remove_made_folder, require_no_answers
from tests.forks import run_scripts

# Nothing of ours: what ours loads, and when, is what is tested.
BEFORE = "import sys\nimport matplotlib.pyplot\nimport torch"

PROBES = """
from utils.checks.exercise import Probe, by_exercise, case
{imports}
PROBES = by_exercise(Probe("planted", dict, lambda answer, _: {{"y": answer()}}, (case("a"),)))
"""
COLLECTS = """
from utils.checks.discovery import collect
PROBES = collect(__name__, __path__, "PROBES")
"""
WARM_UP = """
import sys
from utils.checks import lessons
lessons.__path__.append(sys.argv[1])
from grader.workers.warm_up import warm_up
warm_up()
print(*sorted(name for name in sys.modules if "planted" in name))
"""
LOADED = """
from grader.workers.warm_up import warm_up
warm_up()
print(*sys.modules)
"""
SECOND_DEVICE = """
import sys
import torch
from grader.workers.warm_up import warm_up
from utils.checks.authoring.devices import elsewhere, is_made_there
warm_up()
before = set(sys.modules)
lengths = elsewhere(torch.tensor([3, 1]))
assert is_made_there(lambda: torch.arange(5, device=lengths.device) < lengths[:, None])
print(*(set(sys.modules) - before))
"""


def plant(folder: Path, imports: str) -> str:
    """Add a lesson with probes and, beside them, a module that holds an answer."""
    lesson = folder / "planted"
    (lesson / "probes").mkdir(parents=True)
    (lesson / "answers").mkdir()
    for package in (lesson, lesson / "answers"):
        (package / "__init__.py").touch()
    (lesson / "probes" / "__init__.py").write_text(COLLECTS)
    (lesson / "probes" / "asked.py").write_text(PROBES.format(imports=imports))
    # Neither its name nor the one of its file tells what it is.
    (lesson / "probes_more.py").write_text("def planted():\n    return 42\n")
    (lesson / "answers" / "probes.py").write_text("ANSWER = 42\n")
    return str(folder)


NEIGHBOURS = ("", "probes_more", "answers.probes")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, subprocess.CompletedProcess[str]]:
    """What became of each script, and of warming up beside probes that import a neighbour."""
    scripts: dict[str, tuple[str, ...]] = {script: (script,) for script in (LOADED, SECOND_DEVICE)}
    for neighbour in NEIGHBOURS:
        imports = f"import utils.checks.lessons.planted.{neighbour}" if neighbour else ""
        scripts[neighbour] = (WARM_UP, plant(tmp_path_factory.mktemp("lessons"), imports))
    return dict(zip(scripts, run_scripts(BEFORE, *scripts.values()), strict=True))


def test_a_neighbour_of_probes_that_nothing_imports_is_not_loaded(done):
    assert done[""].returncode == 0, done[""].stderr
    assert done[""].stdout.split() == [
        "utils.checks.lessons.planted",
        "utils.checks.lessons.planted.probes",
        "utils.checks.lessons.planted.probes.asked",
    ]


@pytest.mark.parametrize("neighbour", NEIGHBOURS[1:])
def test_probes_that_import_a_neighbour_with_an_answer_are_refused(done, neighbour):
    assert done[neighbour].returncode != 0
    assert f"planted.{neighbour.partition('.')[0]}" in done[neighbour].stderr
    assert "would stand beside student code" in done[neighbour].stderr


@pytest.mark.parametrize(
    ("module", "may"),
    [
        ("utils.plots", True),
        ("utils.experiments.profiling", True),
        ("utils.reference", True),
        ("utils.reference.attention.plain", False),
        ("utils.checks.lessons.encoder", True),
        ("utils.checks.lessons.encoder.probes", True),
        ("utils.checks.lessons.encoder.probes.building", True),
        ("utils.checks.lessons.encoder.answers", False),
        ("utils.checks.lessons.encoder.answers.probes", False),
        ("utils.checks.lessons.encoder.variants", False),
        ("utils.checks.lessons.encoder.probes_more", False),
    ],
)
def test_the_package_decides_what_may_be_loaded(module, may):
    assert may_stand_beside_students(module) == may


def test_what_lessons_import_is_loaded_with_all_probes_and_no_answers(done):
    assert done[LOADED].returncode == 0, done[LOADED].stderr
    loaded = set(done[LOADED].stdout.split())
    names = ("experiments.train", "notebook.carry", "training.trainer", "treebank.loader", "plots")
    assert {f"utils.{name}" for name in names} <= loaded
    assert {f"utils.checks.lessons.{name}.probes" for name in ("attention", "training")} <= loaded
    assert not [name for name in loaded if ".answers" in name or name.endswith("variants")]


@pytest.mark.parametrize(("name", "is_left"), [("matplotlib-x1", False), ("somebodys", True)])
def test_a_folder_that_matplotlib_made_for_one_run_is_removed_and_no_other(
    tmp_path, monkeypatch, name, is_left
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / name).mkdir()
    remove_made_folder(tmp_path / name)
    assert (tmp_path / name).exists() == is_left


def test_a_loaded_answer_is_named():
    with pytest.raises(RuntimeError, match=r"lessons\.encoder\.variants would stand beside"):
        require_no_answers(["utils.checks.lessons.encoder.variants"])


def test_trying_a_second_device_loads_nothing_once_all_is_warm(done):
    assert done[SECOND_DEVICE].returncode == 0, done[SECOND_DEVICE].stderr
    assert done[SECOND_DEVICE].stdout.split() == []
