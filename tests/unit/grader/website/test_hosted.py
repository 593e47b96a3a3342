"""Where readers run a lesson, and the cell that makes it run there."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.website.hosted import SET_UP, Host, hosted_notebook, launch_bar

LESSON = "02_attention"
# A course of two lines: `utils.checks` is there, and says where it was found.
COURSE = {"utils/__init__.py": "", "utils/checks/__init__.py": "print('found', __file__)\n"}


def test_one_repository_gives_every_launch_address() -> None:
    found = Host("ada/course", "main", hub="https://hub.example/").launches(LESSON)
    assert list(found) == ["Colab", "Binder", "the class's hub"]
    assert "/github/ada/course/blob/gh-pages/_static/hosted/02_attention.ipynb" in found["Colab"]
    assert found["Binder"].startswith("https://mybinder.org/v2/gh/ada/course/main?urlpath=lab%2F")
    assert found["the class's hub"].startswith("https://hub.example/hub/user-redirect/git-pull?")
    assert "urlpath=lab%2Ftree%2Fcourse%2Fnotebooks%2F" in found["the class's hub"]


def test_without_a_repository_a_page_offers_the_download_alone() -> None:
    assert Host().launches(LESSON) == {}
    bar = launch_bar("# Title\n\ntext", LESSON, Host())
    assert bar.startswith("# Title\n\n<p")
    assert "download" in bar
    assert "Binder" not in bar


def test_the_set_up_cell_stands_first_and_the_release_keeps_its_cells() -> None:
    release = new_notebook(cells=[new_code_cell("x", id="a")])
    assert [c.id for c in hosted_notebook(release, Host("ada/course")).cells] == ["set-up", "a"]
    assert [c.id for c in hosted_notebook(release, Host()).cells] == ["a"]
    assert [c.id for c in release.cells] == ["a"]


def test_a_notebook_that_stands_alone_links_to_no_file_beside_it() -> None:
    text = "In [lesson 3](../03_x/03_x.ipynb), [docs](https://a.example). [Start page](../Start.md)"
    release = new_notebook(cells=[new_markdown_cell(text)])
    (cell,) = hosted_notebook(release, Host()).cells
    assert cell.source == "In lesson 3, [docs](https://a.example). "
    assert release.cells[0].source == text


def bare_python(folder: Path) -> list[str]:
    """Give a Python that has torch, and no course installed."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120
    )
    packages = next(folder.glob("lib/python*/site-packages"))
    # A .pth file inside a folder that a .pth file names is not read: the course stays out.
    homes = {Path(module.__path__[0]).parent for module in (torch, np)}
    (packages / "theirs.pth").write_text("\n".join(map(str, homes)))
    return [str(folder / "bin" / "python"), "-I"]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return bare_python(tmp_path_factory.mktemp("venv"))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    for name, text in COURSE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(folder)]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], check=True, timeout=60)
    return folder


def test_the_set_up_cell_fetches_the_course_once_where_there_is_none(
    repository: Path, python: list[str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    cell = SET_UP.format(branch="main", clone=f"file://{repository}") + "\nimport utils.checks\n"
    for _ in range(2):  # a cell is run again
        done = subprocess.run(
            [*python, "-c", cell],
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"found {home / 'course' / 'utils/checks/__init__.py'}\n"


def set_up(python: list[str], home: Path, clone: str, before: str = "") -> Any:
    """Run the set-up cell and an import of the course, in a folder, after other code."""
    cell = SET_UP.format(branch="main", clone=clone)
    code = ["import sys; sys.path.insert(0, '')", before, cell, "import utils.checks", ""]
    return subprocess.run(
        [*python, "-c", "\n".join(code)],
        cwd=home, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


OTHERS = {
    "a file utils.py": {"utils.py": "1 / 0  # it is not run\n"},
    "a folder utils": {"utils/__init__.py": "", "utils/mine.py": ""},
    "a folder utils that is no package": {"utils/mine.py": ""},
}


@pytest.mark.parametrize("files", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("before", ["", "try:\n    import utils\nexcept ZeroDivisionError: pass"])
def test_anothers_utils_in_the_folder_gives_way_to_the_courses_and_is_told(
    repository: Path, python: list[str], tmp_path: Path, files: dict[str, str], before: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = set_up(python, tmp_path, f"file://{repository}", before)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Here `utils` is the course's from now on, not ")
    assert done.stdout.endswith(f"found {tmp_path / 'course' / 'utils/checks/__init__.py'}\n")


def no_network(home: Path) -> str:
    return "https://course.invalid/course"


def no_course_there(home: Path) -> str:
    return f"file://{home / 'nowhere'}"


def in_the_way(home: Path) -> str:
    (home / "course").mkdir()
    (home / "course" / "notes.txt").write_text("mine")
    return "file:///nowhere"


@pytest.mark.parametrize("fault", [no_network, no_course_there, in_the_way])
def test_a_course_that_cannot_be_fetched_is_a_sentence_without_a_traceback(
    python: list[str], tmp_path: Path, fault: Callable[[Path], str]
) -> None:
    done = set_up(python, tmp_path, fault(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("The course could not be fetched, so nothing below will run.")
    assert done.stderr.count("\n") == 1


def test_a_machine_without_git_is_told_in_the_same_sentence(
    python: list[str], tmp_path: Path
) -> None:
    done = set_up(python, tmp_path, "x", "import os; os.environ['PATH'] = '/nowhere'")
    assert done.stderr.startswith("The course could not be fetched")
    assert "'git'" in done.stderr


def test_the_set_up_cell_says_what_an_old_torch_lacks(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("__version__ = '2.10.1+cu130'\n")
    (tmp_path / "utils" / "checks").mkdir(parents=True)
    (tmp_path / "utils" / "__init__.py").touch()
    (tmp_path / "utils" / "checks" / "__init__.py").touch()
    cell = SET_UP.format(branch="main", clone="nowhere")
    done = subprocess.run(
        [sys.executable, "-c", cell], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "needs torch 2.11 or later, not 2.10.1+cu130" in done.stderr
