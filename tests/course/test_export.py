"""`nbgrader export` tells each submission's status, and a grader error is never a zero."""

import csv
from dataclasses import replace

import pytest

from grader.course.course import GradingCourse
from grader.course.report import table
from grader.judging.outcome import Outcome, without_run
from grader.nbgrader_plugins.export import StatusExportPlugin
from grader.recording.graded import Graded
from grader.recording.recording import record
from tests.course.lesson_runs import ROOT, all_lessons

LESSON = all_lessons()["00_start_here"]
STATUSES = ("graded", "timed out", "crashed", "malformed", "grader error")


def outcome(status: str) -> Outcome:
    return replace(without_run(LESSON, status, "A sentence for the student."), status=status)


@pytest.fixture
def course(tmp_path):
    course = GradingCourse(ROOT, tmp_path)
    course.record(LESSON)
    batch = [Graded(status, LESSON, b"", outcome(status), "") for status in STATUSES]
    record(course, batch)
    return course


def exported(course):
    path = course.folder / "grades.csv"
    with course.gradebook() as gradebook:
        StatusExportPlugin(to=str(path)).export(gradebook)
    with path.open(newline="") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}


def test_the_export_tells_every_status(course):
    assert {student: row["status"] for student, row in exported(course).items()} == {
        status: status for status in STATUSES
    }


def test_a_grader_error_has_no_score_where_others_have_one(course):
    rows = exported(course)
    assert rows["grader error"]["score"] == ""
    assert float(rows["malformed"]["score"]) == 0


def test_ids_and_names_with_commas_quotes_and_formulas_keep_their_columns(course):
    names = {'b,en "B"': ("O'Neill, Jr", "Björn"), "=1+1": ("@SUM(A1)", "+Ada")}
    with course.gradebook() as gradebook:
        for student, (last, first) in names.items():
            gradebook.add_student(student, last_name=last, first_name=first)
    rows = exported(course)
    assert len(rows) == len(STATUSES) + len(names)
    assert (rows['b,en "B"']["last_name"], rows['b,en "B"']["score"]) == ("O'Neill, Jr", "0.0")
    formula = rows["'=1+1"]
    assert (formula["last_name"], formula["first_name"]) == ("'@SUM(A1)", "'+Ada")
    assert {row["status"] for row in rows.values()} == {*STATUSES, "not submitted"}


def test_the_table_tells_every_status_and_no_zero_for_a_grader_error(course):
    lines = {
        line.split("  ")[0]: line for line in table(course.lessons, course.book()).splitlines()
    }
    for status in STATUSES[1:]:
        assert lines[status].count(status) == 2
    assert "0 of" not in lines["grader error"]


def test_the_student_is_told_the_status_and_the_reason(course):
    path = course.folder / "autograded" / "timed out" / LESSON.name / f"{LESSON.name}.ipynb"
    text = path.read_text()
    assert "Status: timed out" in text
    assert "A sentence for the student." in text
