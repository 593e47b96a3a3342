"""Two instructors grade by hand at once, each with `make teach` at a socket of their own."""

import json
import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import psutil
import pytest

from grader.cli import main
from grader.course.course import GradingCourse
from tests.browser.chrome import wait_for
from tests.browser.jupyterlab import copy_for_instructor
from tests.unit.grader.lms.downloads import LESSON, with_grades

TOKEN = "of-this-test-only"
STUDENTS = [f"s{number:02}" for number in range(20)]
EXERCISES = ("double", "predict_sum")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such sockets")


class AtSocket(HTTPConnection):
    """A connection to a server that listens at a file, as `ssh -L` makes it."""

    def __init__(self, file: Path) -> None:
        super().__init__("127.0.0.1", 8888)
        self.file = file

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self.file))

    def ask(self, method: str, path: str, body: object = None, token: str = TOKEN) -> int:
        """Ask for something, as JupyterLab's own page does; give the status."""
        headers = {"Authorization": f"token {token}", "Sec-Fetch-Site": "same-origin"}
        try:
            self.request(method, path, json.dumps(body), headers)
            with self.getresponse() as answer:
                answer.read()
                return answer.status
        finally:
            self.close()


@contextmanager
def teaching(folder: Path, name: str) -> Iterator[tuple[Path, psutil.Process]]:
    """Run `make teach` at a socket; gives it and the process."""
    file = folder / f"{name}.sock"
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "grader", "teach", "--socket", file.name],
            cwd=folder,
            env=os.environ | {"HOME": str(folder), "JUPYTER_TOKEN": TOKEN},
            stdout=log,
            stderr=log,
        )
    try:
        wait_for(lambda: file.exists() or process.poll() is not None, "the socket")
        assert process.poll() is None, (folder / f"{name}.log").read_text()
        yield file, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=600)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> GradingCourse:
    """A course in which twenty students have grades for two exercises."""
    folder = tmp_path_factory.mktemp("clone").resolve()
    copy_for_instructor(folder)
    made = GradingCourse(folder, folder)
    with made.gradebook() as gradebook:
        for student in STUDENTS:
            gradebook.add_student(student)
    with_grades(made, dict.fromkeys(STUDENTS, (1.0, 0.0)))
    return made


@pytest.fixture(scope="module")
def graders(course: GradingCourse) -> Iterator[list[tuple[Path, psutil.Process]]]:
    with ExitStack() as stack:
        yield [stack.enter_context(teaching(course.folder, name)) for name in ("ada", "ben")]


def test_a_socket_is_its_owners_alone_and_nothing_listens_at_a_port(
    graders: list[tuple[Path, psutil.Process]],
) -> None:
    for file, process in graders:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert [c for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN] == []
        assert AtSocket(file).ask("GET", "/api/contents") == 200
        assert AtSocket(file).ask("GET", "/api/contents", token="wrong") == 403
        told = file.with_suffix(".log").read_text()
        assert f"ssh -N -L 8888:{file} ACCOUNT@MACHINE" in told


def ids(course: GradingCourse, exercise: str) -> list[str]:
    with course.gradebook() as gradebook:
        found = [gradebook.find_grade(f"test_{exercise}", LESSON, LESSON, s) for s in STUDENTS]
        return [grade.id for grade in found]


def by_hand(course: GradingCourse, exercise: str) -> list[float | None]:
    with course.gradebook() as gradebook:
        found = [gradebook.find_grade(f"test_{exercise}", LESSON, LESSON, s) for s in STUDENTS]
        return [grade.manual_score for grade in found]


def give(file: Path, grades: list[str], score: float) -> list[int]:
    asked = {"manual_score": score, "extra_credit": None}
    return [AtSocket(file).ask("PUT", f"/formgrader/api/grade/{each}", asked) for each in grades]


def test_scores_of_both_arrive_and_of_two_for_one_exercise_the_later_counts(
    course: GradingCourse, graders: list[tuple[Path, psutil.Process]]
) -> None:
    files = [file for file, _ in graders]
    work = [ids(course, exercise) for exercise in EXERCISES]
    with ThreadPoolExecutor(2) as both:
        told = list(both.map(give, files, work, (0.5, 0.25)))
    assert told == [[200] * len(STUDENTS)] * 2
    assert by_hand(course, "double") == [0.5] * len(STUDENTS)
    assert by_hand(course, "predict_sum") == [0.25] * len(STUDENTS)
    for file, score in zip(files, (1.0, 2.0), strict=True):
        assert give(file, work[0][:3], score) == [200] * 3
    assert by_hand(course, "double") == [2.0] * 3 + [0.5] * (len(STUDENTS) - 3)


def test_a_path_that_is_too_long_for_a_socket_is_told(
    course: GradingCourse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(course.folder)
    with pytest.raises(SystemExit):
        main(["teach", "--socket", "a" * 108])
    assert re.search("too long for a socket", capsys.readouterr().err)
