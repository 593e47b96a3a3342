"""Due dates and extensions, in nbgrader's gradebook, from a table that a person writes.

nbgrader keeps an extension with a submission: those of who have not submitted yet wait in a file.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final

import msgspec
from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment

from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.hand_in_time import moments
from grader.course.private import write_private
from grader.course.safe_text import line
from grader.errors import PROGRAM, CourseError, UsageError, verify_known
from grader.person_table import read_table

FORM: Final = """Write a row for each lesson, and one with a student for each extension:
    lesson,due,student
    02_attention,2026-12-04 23:59,
    02_attention,2026-12-07 23:59,ada
A day alone means its end. A time is this computer's unless it says otherwise: 23:59+01:00, or
23:59 Europe/Berlin.
An empty due date takes the due date, or the extension, back."""
COLUMNS: Final = {
    "lesson": ("lesson", "assignment"),
    "due": ("due", "due date"),
    "student": ("student", "student id"),
}
Waiting = dict[str, dict[str, float]]  # lesson -> student -> seconds after the lesson's due date
YEARS: Final = range(2000, 2101)  # near the ends of the calendar no clock can be set ahead or back


@dataclass(frozen=True)
class Row:
    """One row: when a lesson is due, for all or for one student (in UTC; None takes it back)."""

    lesson: str
    due: datetime | None
    student: str = ""


def read_rows(path: Path, lessons: Sequence[str]) -> list[Row]:
    """Read a table of due dates.

    Args:
        path: a CSV file with the columns lesson, due and, if there are extensions, student.
        lessons: the course's.

    Raises:
        CourseError: it is no such table, with a sentence for each row that cannot be read.

    """
    table = read_table(path)
    if not {"lesson", "due"} <= table.places(COLUMNS).keys():
        raise UsageError(f"{path} has no columns lesson and due. {FORM}")
    rows, faults = [], []
    for number, entry in table.entries(COLUMNS):
        try:
            rows.append(_row(entry, lessons))
        except (UsageError, ValueError) as error:
            faults.append(f"{path}, row {number}: {error}")
    if faults:
        raise UsageError("\n".join([*faults, "Nothing was changed.", FORM]))
    return rows


def _row(entry: dict[str, str], lessons: Sequence[str]) -> Row:
    verify_known("lesson", entry["lesson"], lessons)
    return Row(entry["lesson"], as_utc(entry["due"]), entry.get("student", ""))


def as_utc(text: str) -> datetime | None:
    """Read a due date as nbgrader keeps it: in UTC, without saying so; None if it is empty.

    Raises:
        ValueError: it is no date, or one of another century.

    """
    if not text:
        return None
    # Clocks that are put back show a time twice, and leave one out when put forward: the later
    # moment counts, for the student.
    try:
        when = max(moments(text) or _here(text))
    except ValueError:
        raise ValueError(f"{text!r} is no date like 2026-12-04 or 2026-12-04 23:59.") from None
    if when.year not in YEARS:
        raise ValueError(
            f"{text!r} is not in the years {YEARS[0]} to {YEARS[-1]}. Correct the year; a lesson "
            "that is never due has no due date."
        )
    return when.replace(tzinfo=None)


def _here(text: str) -> list[datetime]:
    """Return the moments, in UTC, that a time of this computer may mean."""
    when = _end_of_day(text) or datetime.fromisoformat(text)
    if when.year not in range(YEARS[0] - 1, YEARS[-1] + 2):  # near the ends no clock can be set
        return [when.replace(tzinfo=UTC)]
    return [when.replace(fold=fold).astimezone(UTC) for fold in (0, 1)]


def _end_of_day(text: str) -> datetime | None:
    """Return the end of the day that a text names, in any form of ISO; None if it has a time."""
    try:
        return datetime.combine(date.fromisoformat(text), time(23, 59, 59))
    except ValueError:
        return None


def as_local(when: datetime) -> str:
    """Write a due date of the gradebook in this computer's time, with its offset."""
    return when.replace(tzinfo=UTC).astimezone().strftime("%Y-%m-%d %H:%M %z")


def set_deadlines(course: GradingCourse, rows: Iterable[Row]) -> list[str]:
    """Set due dates, then extensions; a lesson's or student's last row counts.

    Returns:
        The students named whom neither the gradebook nor submitted/ knows (yet).

    Raises:
        CourseError: a student has an extension in a lesson without a due date.

    """
    rows = list(rows)
    waiting = waiting_extensions(course)
    course.back_up()
    with course.transaction() as gradebook:
        for row in [row for row in rows if not row.student]:
            gradebook.update_or_create_assignment(row.lesson, duedate=row.due)
            if row.due is None:
                waiting.pop(row.lesson, None)
                for submission in gradebook.find_assignment(row.lesson).submissions:
                    submission.extension = None
        for row in [row for row in rows if row.student]:
            _extend(gradebook, row, waiting)
        known = {student.id for student in gradebook.students}
    keep_waiting(course, waiting)
    known |= {student for student, _ in course.submitted()}
    return sorted({row.student for row in rows if row.student} - known)


def _extend(gradebook: Gradebook, row: Row, waiting: Waiting) -> None:
    """Keep an extension as nbgrader does: as time after the lesson's due date."""
    due = next((x.duedate for x in gradebook.assignments if x.name == row.lesson), None)
    if due is None:
        raise CourseError(
            f"{line(row.student)} has an extension in {row.lesson}, which has no due date. Add the "
            f"row {row.lesson},<due date>, to the table. Nothing was changed."
        )
    extension = None if row.due is None else row.due - due
    submission = _find(gradebook, row.lesson, row.student)
    # One that was entered still waits where a run was killed in between: it must not come again.
    waiting.get(row.lesson, {}).pop(row.student, None)
    if submission is not None:
        submission.extension = extension
    elif extension is not None:
        waiting.setdefault(row.lesson, {})[row.student] = extension.total_seconds()


def deadlines(course: GradingCourse, book: Book) -> list[Row]:
    """Return every lesson's due date, each followed by its extensions, whether entered or not."""
    waiting, rows = waiting_extensions(course), []
    for name in (lesson.name for lesson in course.lessons):
        due = book.lessons[name].due if name in book.lessons else None
        rows.append(Row(name, due))
        if due is not None:
            granted = {s: timedelta(seconds=n) for s, n in waiting.get(name, {}).items()}
            granted |= {x.student: x.extension for x in book.of(name) if x.extension is not None}
            rows += [Row(name, due + granted[s], s) for s in sorted(granted)]
    return rows


def due_dates(course: GradingCourse, book: Book) -> dict[tuple[str, str], datetime]:
    """Return (lesson, student) -> due date or extension; student "" stands for all."""
    rows = deadlines(course, book)
    return {(r.lesson, r.student): r.due.replace(tzinfo=UTC) for r in rows if r.due is not None}


def waiting_extensions(course: GradingCourse) -> Waiting:
    """Read what was granted before a submission.

    Raises:
        CourseError: the file was changed by hand and cannot be read.

    """
    path = _file(course)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Waiting)
    except FileNotFoundError:
        return {}
    except (RecursionError, ValueError):
        raise CourseError(
            f"{path} cannot be read. Remove it and set the extensions again: "
            f"{PROGRAM} deadlines FILE.csv"
        ) from None


def keep_waiting(course: GradingCourse, waiting: Waiting) -> None:
    """Write what waits for a submission, in one step."""
    left = {lesson: students for lesson, students in waiting.items() if students}
    if left or _file(course).exists():
        text = msgspec.json.format(msgspec.json.encode(left), indent=1)
        write_private(_file(course), text + b"\n")


def _find(gradebook: Gradebook, lesson: str, student: str) -> SubmittedAssignment | None:
    """Return a student's submission as the gradebook has it."""
    with suppress(MissingEntry):
        return gradebook.find_submission(lesson, student)
    return None


def apply_waiting(course: GradingCourse) -> None:
    """Enter the extensions whose submissions are in the gradebook by now.

    Interrupted between the gradebook and the file, it does the same again.
    """
    waiting = waiting_extensions(course)
    if not waiting:
        return
    with course.transaction() as gradebook:
        for lesson, students in waiting.items():
            for student, seconds in list(students.items()):
                if (submission := _find(gradebook, lesson, student)) is not None:
                    submission.extension = timedelta(seconds=seconds)
                    del students[student]
    keep_waiting(course, waiting)


def _file(course: GradingCourse) -> Path:
    return course.folder / ".course" / "extensions.json"
