"""The students' bundle alone: unzipped where the course is not importable, it starts and checks."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from grader.bundle.pack import NAME, pack
from tests.course.clones import make_environment, run
from tests.unit.grader.bundle.test_pack import clone  # noqa: F401 (a fixture)
from utils.lab.settings import Settings

FIRST = "00_start_here"
RIGHT = """def stable_softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
    e = (x - top).exp()
    return e / e.sum(dim, keepdim=True).clamp(min=1e-30)
"""
WRONG = """def masked_mean(x, mask):
    return x.mean(1)
"""


@pytest.fixture(scope="module")
def bundle(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    """The unzipped bundle, with a .venv that has every package but the course itself."""
    folder = tmp_path_factory.mktemp("student").resolve()
    pack(clone, Settings(upload="Moodle, below Lesson 1"), folder / "bundle.zip")
    with zipfile.ZipFile(folder / "bundle.zip") as zipped:
        zipped.extractall(folder)
    root = folder / NAME
    make_environment(root, "lab")
    return root


def write(bundle: Path, answers: dict[str, str]) -> None:
    notebook = bundle / "learn" / FIRST / f"{FIRST}.ipynb"
    found = json.loads(notebook.read_text())
    for cell in found["cells"]:
        cell["source"] = answers.get(cell["id"], cell["source"])
    notebook.write_text(json.dumps(found))


def test_neither_the_checkout_nor_the_grader_can_be_imported(bundle: Path) -> None:
    code = "import utils; print(utils.__file__); import grader"
    done = run(bundle, ".venv/bin/python", "-c", code)
    assert Path(done.stdout.strip()) == bundle / "utils/__init__.py"
    assert "No module named 'grader'" in done.stderr


def test_make_lab_starts_says_where_to_upload_and_writes_the_start_page(bundle: Path) -> None:
    done = run(bundle, "make", "lab", "ARGS=--version")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"{FIRST}: your copy is in learn/{FIRST}"
    assert lines[-2].endswith("to: Moodle, below Lesson 1")
    assert "**Moodle, below Lesson 1**" in (bundle / "learn/Start.md").read_text()
    assert not (bundle / ".course/exchange").exists()


def test_make_check_prints_a_table_of_the_students_own_notebooks(bundle: Path) -> None:
    run(bundle, "make", "lab", "ARGS=--version")
    write(bundle, {"stable_softmax": RIGHT, "masked_mean": WRONG})
    done = run(bundle, "make", "check", f"ARGS={FIRST}")
    assert done.returncode == 2, done.stderr  # make's own status for a command that fails
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines() if line.startswith("  ")]
    marks = {name: mark for mark, name, *_ in lines}
    assert marks["stable_softmax"] == "✓"
    assert marks["masked_mean"] == "✗"
    assert set(marks.values()) == {"✓", "✗", "○"}
    assert f"{FIRST}: 1 of {len(marks)} exercises pass" in done.stdout


def test_stubs_are_no_failure_and_a_broken_notebook_is(bundle: Path) -> None:
    shutil.rmtree(bundle / "learn", ignore_errors=True)
    none = run(bundle, "make", "check")
    assert (none.returncode, "There is nothing to check yet" in none.stdout) == (0, True)
    run(bundle, "make", "lab", "ARGS=--version")
    done = run(bundle, "make", "check", f"ARGS={FIRST}")
    assert (done.returncode, "not written yet" in done.stdout) == (0, True)
    unknown = run(bundle, "make", "check", "ARGS=99_none")
    assert "There is no 99_none in learn/" in unknown.stdout
    (bundle / "learn" / FIRST / f"{FIRST}.ipynb").write_text("{")
    broken = run(bundle, "make", "check", f"ARGS={FIRST}")
    assert (broken.returncode, "is not a notebook" in broken.stdout) == (2, True)
    assert "Traceback" not in broken.stderr
