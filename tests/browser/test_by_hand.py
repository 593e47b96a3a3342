"""JupyterLab however it is started in the course's environment: what answers, what kernels run.

`set_up` is an environment as installation leaves it: nbgrader's files switch its extensions on.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.browser.chrome import wait_for
from tests.browser.jupyterlab import ROOT, TOKEN, copy_course, free_port, is_listening, running_lab
from tests.browser.kernels import kernels_folder, set_traps, sprung
from tests.course.clones import make_environment
from utils.lab.exchange import Course

OFF = ("/formgrader", "/formgrader/", "/formgrader/manage_assignments", "/formgraders")
SETTINGS = Path("etc", "jupyter", "jupyter_server_config.d")


def status(address: str, *, method: str = "GET", site: str = "none") -> int:
    """Ask as the browser of somebody with the token does; gives the answer's number."""
    headers = {"Authorization": f"token {TOKEN}", "Sec-Fetch-Site": site}
    try:
        with urlopen(Request(address, headers=headers, method=method)) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


def answers(base: str, trap: Path) -> dict[str, int]:
    """Ask for everything that has to be gone; the trap's configuration must not run."""
    trap.mkdir()
    (trap / "nbgrader_config.py").write_text(f"open({str(trap / 'ran')!r}, 'w')\n")
    roads = {road: status(base + road) for road in (*OFF, f"/formgrader?path={trap}")}
    roads["validate"] = status(f"{base}/assignments/validate", method="POST")
    assert not (trap / "ran").exists()
    return roads


@pytest.fixture
def set_up(tmp_path: Path) -> Course:
    """A course with an environment that pip has just filled."""
    course = copy_course(tmp_path.resolve() / "course")
    for name in ("setup.sh", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, course.root)
    make_environment(course.root, "lab")
    (course.root / ".venv" / SETTINGS).mkdir(parents=True)
    for file in (Path(sys.prefix) / SETTINGS).glob("*.json"):
        if file.name != "transformer-encoder-course.json":
            shutil.copy(file, course.root / ".venv" / SETTINGS)
    return course


def started_before(course: Course) -> None:
    """Start the course once, as with conda, where nothing but this runs after installation."""
    home = os.environ | {"HOME": str(course.root)}
    python, stop = course.root / ".venv/bin/python", "--version"  # JupyterLab says it and ends
    subprocess.run([python, "-m", "utils.lab", stop], cwd=course.root, env=home, check=True)


def by_setup(course: Course) -> None:
    subprocess.run(["sh", "setup.sh", "lab"], cwd=course.root, check=True)


@contextmanager
def by_hand(course: Course, folder: Path) -> Iterator[str]:
    """Run `jupyter lab` in a folder, with the course's environment and nothing else of it."""
    port = free_port()
    options = ["--no-browser", f"--port={port}", "--allow-root"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    with (course.root / "hand.log").open("w") as written:
        process = subprocess.Popen(
            [course.root / ".venv/bin/python", "-P", "-m", "jupyterlab", *options],
            cwd=folder,
            # An editable installation makes the course's packages importable from everywhere.
            env=clean | {"HOME": str(course.root), "JUPYTER_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)},
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: is_listening(port), "JupyterLab")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=600)


@pytest.mark.parametrize("prepared", [by_setup, started_before])
def test_nbgraders_own_extensions_are_off_where_jupyterlab_is_started_by_hand(
    set_up: Course, tmp_path: Path, prepared: object
) -> None:
    assert callable(prepared)
    prepared(set_up)
    with by_hand(set_up, tmp_path) as base:
        assert set(answers(base, tmp_path / "trap").values()) == {404}
        assert status(f"{base}/assignments?course_id=any") == 200
        assert status(f"{base}/assignments?course_id=any", site="cross-site") == 403


def test_they_are_off_in_make_lab_whatever_the_environment_switches_on(tmp_path: Path) -> None:
    course = copy_course(tmp_path.resolve() / "course")
    with running_lab(course) as address:
        base = address.partition("/?")[0]
        assert set(answers(base, tmp_path / "trap").values()) == {404}
        assert status(f"{base}/assignments?course_id=any") == 200
        assert status(f"{base}/assignments?course_id=any", site="same-site") == 403


def test_no_file_beside_a_notebook_runs_when_it_is_opened_by_hand(
    set_up: Course, tmp_path: Path
) -> None:
    by_setup(set_up)
    folder = tmp_path / "handed in"
    folder.mkdir()
    set_traps(folder)
    with by_hand(set_up, tmp_path) as base:
        assert kernels_folder(base, "handed in/any.ipynb") == str(folder)
    assert sprung(folder) == []


def test_no_file_beside_a_notebook_runs_when_it_is_opened_in_make_lab(tmp_path: Path) -> None:
    course = copy_course(tmp_path.resolve() / "course")
    folder = course.learn / "00_start_here"
    folder.mkdir(parents=True)
    set_traps(folder)
    with running_lab(course) as address:
        base = address.partition("/?")[0]
        assert kernels_folder(base, "00_start_here/00_start_here.ipynb") == str(folder)
    assert sprung(folder) == []
