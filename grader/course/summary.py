"""A class at a glance: at most 40 lines on the terminal, however large the class is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Final

from grader.authoring.lesson import Lesson
from grader.course.absent import absent
from grader.course.course import GradingCourse
from grader.course.graded_copies import read_copy
from grader.course.misplaced import misplaced
from grader.course.notices import notices
from grader.course.report import Row, rows
from grader.course.safe_text import line
from grader.course.wording import first

MOST_LESSONS: Final = 7
MOST_NAMED: Final = 8
MOST_ABSENT: Final = 3
MOST_REASONS: Final = 2  # lines
MOST_REASON: Final = 180  # characters
MALFORMED: Final = "malformed"
NOT_GRADED: Final = "not graded"


@dataclass(frozen=True)
class Overview:
    """One lesson of a class.

    Attributes:
        statuses: student -> status, of those who submitted.
        absent: who of the roster did not.
        reasons: student -> why there was nothing to run, of those whose notebook is malformed.

    """

    lesson: Lesson
    rows: list[Row]
    statuses: dict[str, str]
    absent: Sequence[str]
    reasons: dict[str, str]

    @property
    def counted(self) -> list[Row]:
        """The rows that have a score."""
        none = ("grader error", NOT_GRADED)
        return [row for row in self.rows if self.statuses[row.student] not in none]

    @property
    def line(self) -> str:
        """How many submitted and were late, the mean, and who submitted nothing."""
        totals = [row.total for row in self.counted]
        mean = f"{sum(totals) / len(totals):.2f}" if totals else "-"
        late = sum(row.seconds_late > 0 for row in self.rows)
        told = f"{self.lesson.name:<28}{len(self.rows):>6}{late:>6}{mean:>9}"
        names = first([line(student) for student in self.absent], MOST_ABSENT)
        rest = f"   nothing handed in: {names}" if names else ""
        return f"{told} of {self.lesson.points:g}{rest}"


def summary(course: GradingCourse) -> list[str]:
    """Return counts by status, the lessons' means, and who needs a look."""
    missed = absent(course)
    overviews = (_overview(course, x, missed.get(x.name, ())) for x in course.lessons)
    found = [overview for overview in overviews if overview.rows]
    told = _to_look_at(found, [*misplaced(course), *notices(course)])
    if not found:
        return ["Nothing is graded yet.", *told]
    return [*_table(found), *told]


def _table(found: list[Overview]) -> list[str]:
    """Return a line for each lesson, and how many submissions have which status."""
    head = f"{'':28}{'graded':>6}{'late':>6}{'mean':>9}"
    more = len(found) - MOST_LESSONS
    lines = [head, *(overview.line for overview in found[:MOST_LESSONS])]
    lines += [f"... and {more} lessons more"] if more > 0 else []
    counts = Counter(status for overview in found for status in overview.statuses.values())
    told = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    return [*lines, f"Submissions: {told}."]


def _overview(course: GradingCourse, lesson: Lesson, missed: Sequence[str]) -> Overview:
    found = rows(course, lesson)
    statuses, reasons = {}, {}
    for row in found:
        copy = read_copy(course.folder, row.student, lesson.name)
        statuses[row.student] = copy.status if copy is not None else NOT_GRADED
        if copy is not None and copy.status == MALFORMED and copy.notes:
            reasons[row.student] = copy.notes[0]
    return Overview(lesson, found, statuses, missed, reasons)


def _to_look_at(found: list[Overview], noticed: list[str]) -> list[str]:
    """Return what was noticed, and a line for each status but "graded", with the first names."""
    by_status: dict[str, list[str]] = {}
    for overview in found:
        for student, status in overview.statuses.items():
            if status != "graded":
                by_status.setdefault(status, []).append(f"{line(student)} {overview.lesson.name}")
    lines = ["Needs a look:"] if by_status or noticed else []
    for status, names in by_status.items():
        lines.append(f"  {status}: {first(names, MOST_NAMED)}")
        lines += _reasons(found) if status == MALFORMED else []
    return [*lines, *(f"  {notice}" for notice in noticed)]


def _reasons(found: list[Overview]) -> list[str]:
    """Return lines on why hand-ins are malformed: of many, the first and where the others' are."""
    told = [
        f"    {line(student)} {overview.lesson.name}: {line(shorten(reason, MOST_REASON))}"
        for overview in found
        for student, reason in overview.reasons.items()
    ]
    if len(told) > MOST_REASONS:
        rest = len(told) - MOST_REASONS + 1
        told[MOST_REASONS - 1 :] = [f"    and {rest} more, whose feedback pages say why"]
    return told
