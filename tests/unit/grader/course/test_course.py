"""A course as nbgrader sees it, also where nothing of it was made yet."""

import stat

import pytest

from grader.authoring.release import course_config
from grader.course.course import run_converter
from grader.errors import CourseError
from tests.unit.course_files import make_course


def test_on_a_fresh_clone_the_settings_make_the_exchange_that_formgrader_wants(tmp_path):
    root = make_course(tmp_path)
    config = course_config(root, root)
    exchange = root / ".course" / "exchange"
    assert config.Exchange.root == str(exchange)
    assert stat.S_IMODE(exchange.stat().st_mode) == 0o777


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
