"""The bundle, made of this checkout as if all of it was committed."""

import datetime as dt
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
import yaml

from grader.bundle import pack as module
from grader.bundle.pack import NAME, UNSET, as_toml, pack
from grader.commands.making import bundle as command
from grader.errors import CourseError
from tests.course.clones import commit, make_clone
from tests.unit.course_files import ROOT
from utils.lab.exchange import COURSE_ID
from utils.lab.settings import FILE, Settings, read_settings

SECRET = ("BEGIN HIDDEN", "BEGIN SOLUTION", "hidden=[")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose only commit is what git keeps or would keep of this checkout."""
    return make_clone(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="module")
def bundle(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, unzipped, of a class that has set nothing."""
    target = tmp_path_factory.mktemp("bundle") / "some" / "bundle.zip"
    pack(clone, Settings(), target)
    with zipfile.ZipFile(target) as zipped:
        zipped.extractall(target.parent)
    return target.parent / NAME


def test_it_holds_what_students_need_and_nothing_else(bundle: Path) -> None:
    assert {path.name for path in bundle.iterdir()} == {
        ".github", ".gitignore", "LICENSE", "Makefile", "README.md", "bench",
        "constraints.txt", "course.toml", "environment.yml", "notebooks", "pyproject.toml",
        "setup.sh", "slides", "utils",
    }  # fmt: skip
    assert {path.name for path in (bundle / "bench").iterdir()} == {"results"}


def test_it_holds_the_recorded_figures_that_its_notebooks_draw_and_no_others(bundle: Path) -> None:
    text = "".join(path.read_text() for path in [*bundle.rglob("*.ipynb"), *bundle.rglob("*.py")])
    drawn = set(re.findall(r"recorded\(\\?\"(\w+)", text))
    assert {path.stem for path in (bundle / "bench/results").iterdir()} == drawn != set()


def test_every_file_is_the_courses_own_or_one_made_for_the_bundle(bundle: Path) -> None:
    made = {PurePosixPath(p.relative_to(ROOT / module.ADDED)) for p in _files(ROOT / module.ADDED)}
    for path in map(PurePosixPath, (p.relative_to(bundle) for p in _files(bundle))):
        origin = ROOT / (module.ADDED if path in made else "") / path
        assert path.name == FILE or origin.read_bytes() == (bundle / path).read_bytes()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def plain(text: str) -> str:
    """A text with every run of white space as one space, so that no indentation hides a piece."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def texts(bundle: Path) -> dict[str, str]:
    """Every file of the bundle -> its text; of a notebook that of its cells."""
    found = {}
    for path in _files(bundle):
        text = path.read_text(encoding="utf-8")  # a file that is no text would fail here
        if path.suffix == ".ipynb":
            text += "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        found[str(path.relative_to(bundle))] = plain(text)
    return found


def holding(texts: dict[str, str], pieces: set[str], but: str = "nothing") -> dict[str, str]:
    """Which file holds which piece, first piece each; files whose names begin so are left out."""
    return {
        name: piece
        for name, text in texts.items()
        for piece in pieces
        if piece in text and not name.startswith(but)
    }


SOLUTION = re.compile(r"# BEGIN SOLUTION\n(.*?)# (?:STUB|END SOLUTION)", re.S)
HIDDEN_TESTS = re.compile(r"# BEGIN HIDDEN TESTS\n(.*?)# END HIDDEN TESTS", re.S)
GRADERS = re.compile(r"\b(?:import|from) grader\b|(?<!\w)grader\.[a-z]")
LESSON_TEXTS = [path.read_text() for path in sorted(ROOT.glob("solutions/*.py"))]


def test_no_file_of_it_holds_a_word_that_marks_what_is_hidden(texts: dict[str, str]) -> None:
    assert len([name for name in texts if name.endswith(".ipynb")]) == len(LESSON_TEXTS) > 0
    assert holding(texts, set(SECRET)) == {}


def test_no_file_of_it_holds_a_hidden_case(texts: dict[str, str]) -> None:
    lines = {
        plain(line).rstrip(",")
        for text in LESSON_TEXTS
        for region in HIDDEN_TESTS.findall(text)
        for line in region.splitlines()
        if "case=" in line
    }
    assert len(lines) > 90
    assert holding(texts, lines) == {}


def test_no_file_of_it_holds_an_answer(texts: dict[str, str]) -> None:
    """The stand-ins for earlier lessons' blocks, torch's own modules inside, may look alike."""
    answers = {plain(answer) for text in LESSON_TEXTS for answer in SOLUTION.findall(text)}
    assert len(answers) > 60
    assert holding(texts, answers, but="utils/reference/") == {}


def test_no_file_of_it_holds_or_names_a_module_of_the_grader(texts: dict[str, str]) -> None:
    modules = [path for path in (ROOT / "grader").rglob("*.py") if path.name != "__init__.py"]
    modules = [path for path in modules if ROOT / module.ADDED not in path.parents]
    openings = {plain(path.read_text().partition("\n\n")[0]) for path in modules}
    assert len(openings) > 100
    assert holding(texts, openings) == {}
    named = {name for name, text in texts.items() if GRADERS.search(text)}
    assert named == {"pyproject.toml"}  # its settings of tools name every package


def test_its_workflow_runs_a_command_that_its_makefile_has(bundle: Path) -> None:
    workflow = yaml.safe_load((bundle / ".github/workflows/checks.yml").read_text())
    steps = workflow["jobs"]["checks"]["steps"]
    assert steps[-1]["run"] == "make check"
    dry = ["make", "--no-print-directory", "--dry-run", "check"]
    said = subprocess.run(dry, cwd=bundle, check=True, capture_output=True, text=True).stdout
    assert said.splitlines() == ["sh setup.sh lab", ".venv/bin/python -m utils.lab.checks "]


def test_a_students_repository_keeps_learn_and_leaves_out_what_is_made(bundle: Path) -> None:
    (bundle / "learn/02/.ipynb_checkpoints").mkdir(parents=True)
    for name in ("learn/02/02.ipynb", "learn/Start.md", "learn/.releases.json", ".course/x"):
        (bundle / name).parent.mkdir(exist_ok=True)
        (bundle / name).touch()
    (bundle / "learn/02/.ipynb_checkpoints/02.ipynb").touch()
    commit(bundle)
    listing = ["git", "ls-files", "learn", ".course"]
    kept = subprocess.run(listing, cwd=bundle, check=True, capture_output=True, text=True).stdout
    assert kept.split() == ["learn/02/02.ipynb"]


@pytest.mark.parametrize(
    "settings",
    [
        Settings(shared=Path("/srv/some exchange")),
        Settings(upload='Moodle, "Lesson 2" \\ today: {x} é'),
        Settings(upload="x", due={"02_a": dt.datetime(2026, 12, 1, 23, 59, tzinfo=dt.UTC)}),
    ],
)
def test_students_settings_are_read_as_they_were_set(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / FILE).write_text(as_toml(settings), encoding="utf-8")
    assert read_settings(tmp_path) == settings


def test_without_a_setting_students_upload_where_their_instructor_says(bundle: Path) -> None:
    assert read_settings(bundle) == Settings(upload=UNSET)


def test_outside_a_repository_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="needs a clone of the course"):
        pack(tmp_path, Settings(), tmp_path / "bundle.zip")
    assert not (tmp_path / "bundle.zip").exists()


@pytest.fixture
def run(clone: Path, tmp_path: Path, monkeypatch, capsys) -> Callable[[str], tuple[int, list[str]]]:
    """Run the command in a copy of the clone with these settings; give its status and lines."""
    folder = tmp_path / "clone"
    shutil.copytree(clone, folder)
    monkeypatch.chdir(folder)

    def run(settings: str) -> tuple[int, list[str]]:
        (folder / FILE).write_text(settings)
        status = command.run(None)
        return status, capsys.readouterr().out.splitlines()

    return run


def test_the_command_releases_into_an_exchange_that_is_shared(run, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    setting = f"submit = {json.dumps(str(shared))}"
    status, lines = run(setting)
    assert status == 0
    assert lines[-1].startswith(f"Its Submit goes to {shared}; released there now: 00_start_here, ")
    released = shared / COURSE_ID / "outbound"
    assert len(list(released.iterdir())) == len(list(ROOT.glob("notebooks/*/*.ipynb")))
    assert run(setting)[1][-1].endswith("released there now: nothing new")


def test_the_command_says_when_the_shared_exchange_is_elsewhere(run, tmp_path: Path) -> None:
    _, lines = run(f'submit = "{tmp_path}/away"')
    assert "which is not on this machine" in lines[-1]


def test_the_command_says_how_to_set_what_is_not_set(run) -> None:
    _, lines = run("")
    assert lines[0] == f"dist/{NAME}.zip: what students need, as last committed"
    assert f"write a line into {FILE}" in lines[-1]
    assert run('submit = "Moodle"')[1][-1].endswith("Students are told to upload to: Moodle")


def test_the_command_refuses_settings_that_cannot_be_used(run) -> None:
    with pytest.raises(CourseError, match="in quotes"):
        run("submit = 5")
