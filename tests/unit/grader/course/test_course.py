"""A course as nbgrader sees it, also where nothing of it was made yet."""

import re
import stat

import pytest
from nbgrader.coursedir import CourseDirectory

from grader.authoring.release import course_config
from grader.course.course import GradingCourse, run_converter
from grader.errors import CourseError
from tests.unit.course_files import make_course


def test_on_a_fresh_clone_the_settings_make_the_exchange_that_formgrader_wants(tmp_path):
    root = make_course(tmp_path)
    config = course_config(root, root)
    exchange = root / ".course" / "exchange"
    assert config.Exchange.root == str(exchange)
    assert stat.S_IMODE(exchange.stat().st_mode) == 0o777


@pytest.mark.parametrize("name", ["course (1)", "$(which)?", "c++"])
def test_nbgrader_finds_a_lesson_whatever_the_courses_folder_is_called(tmp_path, name):
    (tmp_path / name).mkdir()
    root = make_course(tmp_path / name)
    folders = CourseDirectory(config=GradingCourse(root, root).converter_config("01_doubling"))
    step = folders.source_directory
    pattern = folders.format_path(step, "(?P<student>.*)", "(?P<lesson>.*)", escape=True)
    assert re.match(pattern, folders.format_path(step, ".", "01_doubling"))["student"] == "."


def test_nbgraders_refusal_is_told_with_its_last_words(monkeypatch):
    log = "\n".join(f"[INFO] line {number}" for number in range(90))
    said = {"success": False, "log": log, "error": "Traceback\nValueError: the cause, at the end\n"}
    monkeypatch.setattr("grader.course.course.capture_log", lambda converter: said)
    with pytest.raises(CourseError) as caught:
        run_converter(None, "the gradebook does not take it")
    lines = str(caught.value).splitlines()
    assert (lines[0], lines[-1]) == (
        "the gradebook does not take it:",
        "ValueError: the cause, at the end",
    )
    assert len(lines) < 20


def test_of_nbgraders_tracebacks_only_their_last_lines_are_told(monkeypatch):
    trace = "Traceback (most recent call last):\n  File 'api.py', line 5, in add\n    add()\n"
    log = (
        f"[ERROR] There was an error\n{trace}sqlite3.OperationalError: database is locked\n"
        f"\nDuring handling of the above exception, another occurred:\n\n{trace}"
        "InvalidEntry: database is locked\n[SQL: INSERT INTO course]\n[parameters: ('x',)]\n"
    )
    error = f"{trace}NbGraderException: Please see the the above traceback\n"
    said = {"success": False, "log": log, "error": error}
    monkeypatch.setattr("grader.course.course.capture_log", lambda converter: said)
    with pytest.raises(CourseError) as caught:
        run_converter(None, "not taken")
    assert str(caught.value).splitlines() == [
        "not taken:",
        "[ERROR] There was an error",
        "sqlite3.OperationalError: database is locked",
        "InvalidEntry: database is locked",
    ]
