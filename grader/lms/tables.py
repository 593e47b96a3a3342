"""Grades as tables: for Moodle's grade import, and as plain CSV.

Moodle asks which column holds what, and maps students by email or ID number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from grader.course.grades import Grade
from grader.course.safe_text import Value, line
from grader.course.wording import first
from grader.errors import PROGRAM
from grader.lms.columns import Column
from grader.lms.roster import Student

Row = list[Value]
NEEDS: Final = (
    "Give the class with a column email or moodle_id_number; Moodle's list of participants serves "
    f"too: {PROGRAM} roster class.csv"
)


@dataclass
class Table:
    """Rows for a CSV file, and sentences on what is not in them.

    Attributes:
        count: how many lines are a student's.
        needs: what helps if none is.

    """

    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    count: int = 0
    needs: str = ""


def moodle(students: Sequence[Student], columns: Sequence[Column]) -> Table:
    """Return a table that Moodle's grade import takes: map by email or by ID number."""
    known = [student for student in students if student.email or student.moodle_id_number]
    head = ["ID number", "Email address", "First name", "Last name"]
    rows: list[Row] = [[*head, *(column.title for column in columns)]]
    for student in known:
        first, last = student.names
        about: Row = [student.moodle_id_number, student.email, first, last]
        rows.append([*about, *points_of(student.id, columns)])
    notes = left_out(students, known, "email or Moodle ID number")
    return Table(rows, notes, len(known), NEEDS)


def plain(
    students: Sequence[Student], grades: Mapping[str, Sequence[Grade]], columns: Sequence[Column]
) -> Table:
    """Return a line for each of the students and lesson (and exercise, if asked for)."""
    about = {student.id: student for student in students}
    head: Row = [
        "student", "last_name", "first_name", "email", "lesson", "exercise", "status",
        "handed_in_utc", "points", "late_penalty", "score", "out_of",
    ]  # fmt: skip
    rows = [head]
    for column in columns:
        there = [grade for grade in grades[column.lesson] if grade.student in about]
        rows += [_plain(grade, column, about[grade.student]) for grade in there]
    return Table(rows, count=len(rows) - 1, needs=f"Look at who is in the class: {PROGRAM} roster")


def _plain(grade: Grade, column: Column, student: Student) -> Row:
    first, last = student.names
    time = f"{grade.time:%Y-%m-%d %H:%M:%S}" if grade.time else ""
    row: Row = [student.id, last, first, student.email, column.lesson, column.exercise]
    row += [grade.status, time]
    if grade.score is None:
        return [*row, None, None, None, column.most]
    points = column.points.get(grade.student, 0.0)
    if column.exercise:
        return [*row, points, None, points, column.most]
    return [*row, grade.raw, grade.penalty, points, column.most]


def points_of(student: str, columns: Sequence[Column]) -> list[Value]:
    """Return a student's points; nothing where nothing was handed in."""
    return [column.points.get(student) for column in columns]


def left_out(students: Sequence[Student], known: Sequence[Student], what: str) -> list[str]:
    """Return a sentence on the students whom a table has no line for; none if it has all."""
    ids = {student.id for student in known}
    missing = [student.id for student in students if student.id not in ids]
    return told(f"Left out, for the roster has no {what}", missing)


def told(what: str, names: Sequence[str]) -> list[str]:
    """Return a sentence on some names; none if there are none."""
    return [f"{what}: {few(names)}."] if names else []


def few(names: Sequence[str], most: int = 12) -> str:
    """Return the first names, fit for a terminal."""
    return first(list(map(line, names)), most)
