"""Grades as tables: for Moodle's grade import, and as plain CSV.

Moodle asks which column holds what, and maps students by email or ID number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from grader.authoring.lesson import Lesson
from grader.course.book import Book, exported_status
from grader.course.graded_copies import FAILED
from grader.course.roster_file import Student
from grader.course.safe_text import Value, few
from grader.errors import PROGRAM

Row = list[Value]
NEEDS: Final = (
    "Give the class with a column email or moodle_id_number; Moodle's list of participants serves "
    f"too: {PROGRAM} roster class.csv"
)


@dataclass(frozen=True)
class Column:
    """A column of points.

    Attributes:
        title: what it is called in our own tables.
        lesson: whose points these are.
        exercise: its id; "" for the whole lesson.
        most: the points that can be had.
        points: student -> points, for those who have any.

    """

    title: str
    lesson: str
    exercise: str
    most: float
    points: Mapping[str, float]


def columns(lessons: Sequence[Lesson], book: Book, *, per_exercise: bool) -> list[Column]:
    """Return the columns of graded lessons, in order; a late penalty is the whole lesson's."""
    found: list[Column] = []
    for lesson in (lesson for lesson in lessons if book.of(lesson.name)):
        name, counted = lesson.name, [x for x in book.of(lesson.name) if x.status != FAILED]
        whole = {record.student: record.total for record in counted}
        found.append(Column(name, name, "", lesson.points, whole))
        for exercise in lesson.exercises if per_exercise else ():
            own = {x.student: x.scores[exercise.id] for x in counted if exercise.id in x.scores}
            title = f"{name}: {exercise.id}"
            found.append(Column(title, name, exercise.id, exercise.points, own))
    return found


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
        about: Row = [student.moodle_id_number, student.email, *student.names]
        rows.append([*about, *points_of(student.id, columns)])
    notes = left_out(students, known, "email or Moodle ID number")
    return Table(rows, notes, len(known), NEEDS)


def plain(students: Sequence[Student], book: Book, columns: Sequence[Column]) -> Table:
    """Return a line for each of the students and lesson (and exercise, if asked for)."""
    about = {student.id: student for student in students}
    head: Row = [
        "student", "last_name", "first_name", "email", "lesson", "exercise", "status",
        "handed_in_utc", "points", "late_penalty", "score", "out_of",
    ]  # fmt: skip
    rows = [head]
    for column in columns:
        rows += [_plain(about[x], book, column) for x in book.people if x in about]
    return Table(rows, count=len(rows) - 1, needs=f"Look at who is in the class: {PROGRAM} roster")


def _plain(student: Student, book: Book, column: Column) -> Row:
    first_name, last_name = student.names
    record = book.records.get((student.id, column.lesson))
    time = f"{record.handed_in:%Y-%m-%d %H:%M:%S}" if record and record.handed_in else ""
    row: Row = [student.id, last_name, first_name, student.email, column.lesson, column.exercise]
    row += [exported_status(record), time]
    if record is None or record.status == FAILED:
        return [*row, None, None, None, column.most]
    points = column.points.get(student.id, 0.0)
    of_lesson = (points, None) if column.exercise else (record.raw, record.penalty)
    return [*row, *of_lesson, points, column.most]


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
