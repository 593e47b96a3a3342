"""What the gradebook holds that a person should know of, and that no status tells."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from textwrap import shorten
from typing import Any, Final

from nbgrader.api import Assignment, Grade, GradeCell, Student, SubmittedAssignment

from grader.course.absent import not_in_roster
from grader.course.beside import STAMP
from grader.course.course import GradingCourse
from grader.course.hand_in_time import LONGEST, as_time, stamp, unknown_days
from grader.course.queries import scores_of_all
from grader.course.safe_text import line
from grader.course.wording import first
from grader.regular_file import Unreadable

MOST_SCORES: Final = 3
MOST_NAMED: Final = 8
LEAST: Final = 1e-9  # points
RESOLVE: Final = "In make teach, Resolve keeps yours, an empty field lets the grader's count"
GIVE_TIME: Final = f"A time in {STAMP} beside the notebook counts, such as 2026-10-05 23:10 UTC"
JUST_LATE: Final = (
    f"Each counts as just late, or as within an extension. {GIVE_TIME}; then run make grade"
)
NO_TIME: Final = "Write UTC, Z, an offset such as +01:00 or a zone such as Europe/Berlin behind it"


def notices(course: GradingCourse) -> list[str]:
    """Return a line for each kind of notice, with the first whom it concerns."""
    with course.gradebook() as gradebook:
        of_gradebook = [*_overruled(gradebook.db), *_without_time(gradebook.db)]
    return [*not_in_roster(course), *of_gradebook, *_no_times(course), *_without_day(course)]


def _overruled(db: Any) -> Iterator[str]:
    """Yield a line on scores by hand that hide what was graded since.

    nbgrader's mark is set when something with a score by hand is graded again, and taken off when a
    person resolves it in formgrader.
    """
    found = [
        f"{line(student)} {lesson} {cell.removeprefix('test_')} "
        f"(yours {by_hand:g}, the grader's {score:g})"
        for student, lesson, cell, by_hand, score in _marked(db)
        if abs(by_hand - score) > LEAST
    ]
    if found:
        told = first(found, MOST_SCORES)
        yield f"score by hand differs from the grader's new one: {told}. {RESOLVE}"


def _marked(db: Any) -> Any:
    columns = Student.id, Assignment.name, GradeCell.name, Grade.manual_score, Grade.auto_score
    return (
        scores_of_all(db, *columns)
        .filter(Grade.needs_manual_grade, Grade.manual_score.is_not(None))
        .filter(Grade.auto_score.is_not(None))
        .order_by(Student.id, Assignment.name, GradeCell.name)
    )


def _without_time(db: Any) -> Iterator[str]:
    """Yield a line on hand-ins that may have come late: their lesson was due, and no time is told.

    A hand-in has none where somebody put it into submitted/ by hand.
    """
    now = datetime.now(UTC).replace(tzinfo=None)  # as nbgrader keeps due dates
    found = [
        f"{line(student)} {lesson}"
        for student, lesson, due, extension in _timeless(db)
        if due + (extension or timedelta()) < now
    ]
    if found:
        told = first(found, MOST_NAMED)
        yield f"no time recorded, counted as on time: {told}. {GIVE_TIME}"


def _timeless(db: Any) -> Any:
    columns = Student.id, Assignment.name, Assignment.duedate, SubmittedAssignment.extension
    return (
        db.query(*columns)
        .select_from(SubmittedAssignment)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .filter(SubmittedAssignment.timestamp.is_(None), Assignment.duedate.is_not(None))
        .order_by(Student.id, Assignment.name)
    )


def _no_times(course: GradingCourse) -> Iterator[str]:
    """Yield a line on files of the time beside a hand-in that hold another text."""
    found = []
    for student, lesson in course.submitted():
        with suppress(Unreadable):  # grading tells that
            text = stamp(course.folder / "submitted" / student / lesson)
            if text and as_time(text) is None:
                found.append(f'{line(student)} {lesson} has "{line(shorten(text, LONGEST))}"')
    if found:
        told = first(found, MOST_NAMED)
        yield f"no time in {STAMP}, counted as on time: {told}. {NO_TIME}"


def _without_day(course: GradingCourse) -> Iterator[str]:
    """Yield a line on late hand-ins of which Canvas does not say the day."""
    days = unknown_days(course.folder, [lesson.name for lesson in course.lessons])
    if found := [f"{line(student)} {lesson}" for student, lesson in days]:
        yield f"late, day not known: {first(found, MOST_NAMED)}. {JUST_LATE}"
