"""A class at a glance: at most 40 lines on the terminal, however large the class is."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from textwrap import shorten
from typing import Final

from grader.authoring.lesson import Lesson
from grader.course.absent import absent
from grader.course.book import Book, Record
from grader.course.course import GradingCourse
from grader.course.graded_copies import GRADED
from grader.course.misplaced import misplaced
from grader.course.notices import notices
from grader.course.safe_text import line
from grader.course.wording import first

MOST_LESSONS: Final = 7
MOST_NAMED: Final = 8
MOST_ABSENT: Final = 3
MOST_REASONS: Final = 2  # lines
MOST_REASON: Final = 180  # characters
MALFORMED: Final = "malformed"


def summary(course: GradingCourse, book: Book) -> list[str]:
    """Return counts by status, the lessons' means, and who needs a look."""
    missed = absent(course, book)
    lessons = [x for x in course.lessons if book.of(x.name)]
    found = [record for lesson in lessons for record in book.of(lesson.name)]
    told = _to_look_at(found, [*misplaced(course), *notices(course, book)])
    if not found:
        return ["Nothing is graded yet.", *told]
    lines = [f"{'':28}{'graded':>6}{'late':>6}{'mean':>9}"]
    for lesson in lessons[:MOST_LESSONS]:
        lines.append(_line(lesson, book.of(lesson.name), missed.get(lesson.name, ())))
    more = len(lessons) - MOST_LESSONS
    lines += [f"... and {more} lessons more"] if more > 0 else []
    counts = Counter(record.status for record in found).most_common()
    statuses = ", ".join(f"{count} {status}" for status, count in counts)
    return [*lines, f"Submissions: {statuses}.", *told]


def _line(lesson: Lesson, found: Sequence[Record], missed: Sequence[str]) -> str:
    """Return how many submitted and were late, the mean, and who submitted nothing."""
    totals = [record.total for record in found if record.has_score]
    mean = f"{sum(totals) / len(totals):.2f}" if totals else "-"
    late = sum(bool(record.late_by) for record in found)
    told = f"{lesson.name:<28}{len(found):>6}{late:>6}{mean:>9}"
    names = first([line(student) for student in missed], MOST_ABSENT)
    rest = f"   nothing handed in: {names}" if names else ""
    return f"{told} of {lesson.points:g}{rest}"


def _to_look_at(found: Sequence[Record], noticed: list[str]) -> list[str]:
    """Return what was noticed, and a line for each status but "graded", with the first names."""
    by_status: dict[str, list[Record]] = defaultdict(list)
    for record in found:
        if record.status != GRADED:
            by_status[record.status].append(record)
    lines = ["Needs a look:"] if by_status or noticed else []
    for status, those in by_status.items():
        lines.append(f"  {status}: {first([_whose(record) for record in those], MOST_NAMED)}")
        lines += _reasons(those) if status == MALFORMED else []
    return [*lines, *(f"  {notice}" for notice in noticed)]


def _whose(record: Record) -> str:
    return f"{line(record.student)} {record.lesson}"


def _reasons(malformed: Sequence[Record]) -> list[str]:
    """Return lines on why hand-ins are malformed: of many, the first and where the others' are."""
    told = [
        f"    {_whose(record)}: {line(shorten(record.copy.notes[0], MOST_REASON))}"
        for record in malformed
        if record.copy is not None and record.copy.notes
    ]
    if len(told) > MOST_REASONS:
        rest = len(told) - MOST_REASONS + 1
        told[MOST_REASONS - 1 :] = [f"    and {rest} more, whose feedback pages say why"]
    return told
