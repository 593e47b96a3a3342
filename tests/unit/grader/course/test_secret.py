"""Where a class's secret comes from, and that it stays where it is."""

import os
import random
import secrets

import pytest

from grader.course.course import GradingCourse
from grader.course.secret import FILE, VARIABLE, course_secret
from grader.errors import PROGRAM, CourseError
from grader.workers.pool import KEPT
from tests.course.lesson_runs import ROOT
from utils.checks.variation import VARIATION

SECRET = random.Random(0).randbytes(32).hex()  # of no class


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
    (tmp_path / FILE).write_text(SECRET[::-1])
    monkeypatch.setenv(VARIABLE, SECRET)
    assert course_secret(tmp_path) == SECRET


GUESSED = {
    "nothing": "",
    "blanks": "   \n",
    "a word": "attention",
    "a phrase": "attention is all you need",
    "a long phrase": "correct horse battery staple transformer course autumn 2026",
    "a phrase without blanks": "CorrectHorseBatteryStapleTransformerCourse2026",
    "few digits": SECRET[:31],
    "a phrase and digits": f"course-{SECRET}",
    "words of digits": "deadbeefcafebabef00dfacefeedc0de",
    "one digit": "a" * 64,
    "digits in order": "0123456789abcdef" * 4,
    "each digit twice": "00112233445566778899aabbccddeeff",
    "a known number": "31415926535897932384626433832795",
    "few digits, again and again": SECRET[:16] * 4,
}


@pytest.mark.parametrize("text", GUESSED.values(), ids=GUESSED)
def test_a_secret_that_can_be_guessed_is_refused_with_the_command_that_makes_one(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(CourseError, match=f"secret in {FILE} may be guessed") as told:
        course_secret(tmp_path)
    assert f"run {PROGRAM} secret --replace" in str(told.value)
    assert "scores by hand stay" in str(told.value)


def test_a_phrase_in_the_variable_is_refused_too(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, GUESSED["a phrase"])
    with pytest.raises(CourseError, match=f"Unset {VARIABLE}, then run"):
        course_secret(tmp_path)


@pytest.mark.parametrize("made", [secrets.token_hex, lambda: secrets.token_hex(16).upper()])
def test_what_chance_drew_is_taken(tmp_path, made):
    for _ in range(2000):
        (tmp_path / FILE).write_text(made())
        assert course_secret(tmp_path)


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
