"""The bundle, made of this checkout as if all of it was committed."""

import datetime as dt
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
import yaml

from grader.bundle import pack as module
from grader.bundle.pack import NAME, UNSET, as_toml, pack
from grader.commands import bundle as command
from grader.errors import CourseError
from tests.unit.course_files import ROOT
from utils.lab.exchange import COURSE_ID
from utils.lab.settings import FILE, Settings, read_settings

AUTHOR = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
SECRET = ("BEGIN HIDDEN", "BEGIN SOLUTION", "hidden=[")


def commit(folder: Path) -> None:
    for words in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-q", "-m", "All"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose only commit is what git keeps or would keep of this checkout."""
    folder = tmp_path_factory.mktemp("clone")
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(lambda name: (ROOT / name).is_file(), names.splitlines()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    commit(folder)
    return folder


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
        "setup.sh", "utils",
    }  # fmt: skip
    assert {path.name for path in (bundle / "bench").iterdir()} == {"results"}  # lessons draw these


def test_every_file_is_the_courses_own_or_one_made_for_the_bundle(bundle: Path) -> None:
    made = {PurePosixPath(p.relative_to(ROOT / module.ADDED)) for p in _files(ROOT / module.ADDED)}
    for path in map(PurePosixPath, (p.relative_to(bundle) for p in _files(bundle))):
        origin = ROOT / (module.ADDED if path in made else "") / path
        assert path.name == FILE or origin.read_bytes() == (bundle / path).read_bytes()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_no_notebook_in_it_holds_a_solution_or_a_hidden_test(bundle: Path) -> None:
    notebooks = list(bundle.rglob("*.ipynb"))
    assert len(notebooks) == len(list(ROOT.glob("notebooks/*/*.ipynb"))) > 0
    assert [p for p in notebooks if any(word in p.read_text() for word in SECRET)] == []


def test_no_module_in_it_imports_the_grader(bundle: Path) -> None:
    wrong = [p for p in bundle.rglob("*.py") if "import grader" in p.read_text()]
    wrong += [p for p in bundle.rglob("*.py") if "from grader" in p.read_text()]
    assert wrong == []


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
