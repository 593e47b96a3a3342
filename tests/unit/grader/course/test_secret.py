"""Where a class's secret comes from, and that it stays where it is."""

import os

import pytest

from grader.course.course import GradingCourse
from grader.course.secret import FILE, VARIABLE, course_secret
from grader.errors import CourseError
from grader.workers.pool import KEPT
from tests.course.lesson_runs import ROOT
from utils.checks.framework.variation import VARIATION

SECRET = "a word that nobody guesses"


@pytest.fixture(autouse=True)
def without_variable(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def test_a_class_without_a_secret_has_none(tmp_path):
    assert course_secret(tmp_path) == ""


def test_the_file_holds_the_secret_with_or_without_a_line_end(tmp_path):
    (tmp_path / FILE).write_text(f"{SECRET}\n")
    assert course_secret(tmp_path) == SECRET


@pytest.mark.parametrize("code", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_secret_is_the_same_whatever_an_editor_puts_around_it(tmp_path, code):
    (tmp_path / FILE).write_bytes(f" {SECRET}\r\n".encode(code))
    assert course_secret(tmp_path) == SECRET


def test_the_variable_comes_before_the_file(tmp_path, monkeypatch):
    (tmp_path / FILE).write_text("another word, not this one")
    monkeypatch.setenv(VARIABLE, SECRET)
    assert course_secret(tmp_path) == SECRET


@pytest.mark.parametrize("text", ["", "short", "   \n"])
def test_a_secret_that_can_be_guessed_is_refused_with_what_to_write(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(CourseError, match=rf"{FILE} has {len(text.strip())} characters"):
        course_secret(tmp_path)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / FILE).write_bytes(b"\xff\xff" * 20)
    with pytest.raises(CourseError, match="cannot be read"):
        course_secret(tmp_path)


def test_the_course_to_grade_is_varied_and_processes_of_students_do_not_see_the_secret(
    tmp_path, monkeypatch
):
    monkeypatch.setenv(VARIABLE, SECRET)
    lesson = GradingCourse(ROOT, tmp_path).lessons[0]
    assert all(case[VARIATION] for exercise in lesson.exercises for case in exercise.hidden)
    assert VARIABLE in os.environ
    assert VARIABLE not in KEPT
