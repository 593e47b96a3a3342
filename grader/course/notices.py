"""What the gradebook holds that a person should know of, and that no status tells."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from textwrap import shorten
from typing import Final

from grader.course.absent import not_in_roster
from grader.course.beside import STAMP
from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.hand_in_time import LONGEST, as_time, stamp, unknown_days
from grader.course.safe_text import line
from grader.course.wording import first
from grader.regular_file import Unreadable

MOST_SCORES: Final = 3
MOST_NAMED: Final = 8
GIVE_TIME: Final = f"A time in {STAMP} beside the notebook counts, such as 2026-10-05 23:10 UTC"
JUST_LATE: Final = (
    f"Each counts as just late, or as within an extension. {GIVE_TIME}; then run make grade"
)
RESOLVE: Final = "In make teach, Resolve keeps yours, an empty field lets the grader's count"
NO_TIME: Final = "Write UTC, Z, an offset such as +01:00 or a zone such as Europe/Berlin behind it"


def notices(course: GradingCourse, book: Book) -> list[str]:
    """Return a line for each kind of notice, with the first whom it concerns."""
    days = unknown_days(course.folder, [lesson.name for lesson in course.lessons])
    late = [f"{line(student)} {lesson}" for student, lesson in days]
    kinds = (
        ("score by hand differs from the grader's new one", _overruled(book), MOST_SCORES, RESOLVE),
        ("no time recorded, counted as on time", _without_time(book), MOST_NAMED, GIVE_TIME),
        (f"no time in {STAMP}, counted as on time", _no_times(course), MOST_NAMED, NO_TIME),
        ("late, day not known", late, MOST_NAMED, JUST_LATE),
    )
    told = [
        f"{what}: {first(listed, most)}. {helps}"
        for what, found, most, helps in kinds
        if (listed := list(found))
    ]
    return [*not_in_roster(course, book), *told]


def _overruled(book: Book) -> Iterator[str]:
    """Yield scores by hand that hide what was graded since.

    nbgrader's mark is set when something with a score by hand is graded again, and taken off when a
    person resolves it in formgrader.
    """
    for (student, lesson), record in sorted(book.records.items()):
        for exercise, mark in record.marks.items():
            if mark.is_overruled:
                scores = f"yours {mark.manual:g}, the grader's {mark.auto:g}"
                yield f"{line(student)} {lesson} {exercise} ({scores})"


def _without_time(book: Book) -> Iterator[str]:
    """Yield hand-ins that may have come late: their lesson was due, and no time is told.

    A hand-in has none where somebody put it into submitted/ by hand.
    """
    now = datetime.now(UTC).replace(tzinfo=None)  # as nbgrader keeps due dates
    for (student, lesson), record in sorted(book.records.items()):
        if record.handed_in is None and record.due is not None and record.due < now:
            yield f"{line(student)} {lesson}"


def _no_times(course: GradingCourse) -> Iterator[str]:
    """Yield hand-ins beside which the file of the time holds another text."""
    for student, lesson in course.submitted():
        with suppress(Unreadable):  # grading tells that
            text = stamp(course.folder / "submitted" / student / lesson)
            if text and as_time(text) is None:
                yield f'{line(student)} {lesson} has "{line(shorten(text, LONGEST))}"'
