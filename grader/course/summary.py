"""A class at a glance: at most 40 lines on the terminal, however large the class is."""

from collections import Counter
from dataclasses import dataclass
from textwrap import shorten
from typing import Final

from grader.authoring.lesson import Lesson
from grader.course.course import GradingCourse
from grader.course.graded_copies import read_copy
from grader.course.report import Row, rows
from grader.course.safe_text import line

MOST_LESSONS: Final = 10
MOST_NAMED: Final = 8
MOST_REASONS: Final = 2  # lines
MOST_REASON: Final = 180  # characters
MALFORMED: Final = "malformed"
NOT_GRADED: Final = "not graded"


@dataclass(frozen=True)
class Overview:
    """One lesson of a class.

    Attributes:
        statuses: student -> status, of those who submitted.
        reasons: student -> why there was nothing to run, of those whose notebook is malformed.

    """

    lesson: Lesson
    rows: list[Row]
    statuses: dict[str, str]
    reasons: dict[str, str]

    @property
    def counted(self) -> list[Row]:
        """The rows that have a score."""
        none = ("grader error", NOT_GRADED)
        return [row for row in self.rows if self.statuses[row.student] not in none]

    @property
    def line(self) -> str:
        """How many submitted and were late, and the mean."""
        totals = [row.total for row in self.counted]
        mean = f"{sum(totals) / len(totals):.2f}" if totals else "-"
        late = sum(row.seconds_late > 0 for row in self.rows)
        told = f"{self.lesson.name:<28}{len(self.rows):>6}{late:>6}{mean:>9}"
        return f"{told} of {self.lesson.points:g}"


def summary(course: GradingCourse) -> list[str]:
    """Return counts by status, the lessons' means, and who needs a look."""
    found = [overview for x in course.lessons if (overview := _overview(course, x)).rows]
    if not found:
        return ["Nothing is graded yet."]
    head = f"{'':28}{'graded':>6}{'late':>6}{'mean':>9}"
    more = len(found) - MOST_LESSONS
    lines = [head, *(overview.line for overview in found[:MOST_LESSONS])]
    lines += [f"... and {more} lessons more"] if more > 0 else []
    counts = Counter(status for overview in found for status in overview.statuses.values())
    told = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    return [*lines, f"Submissions: {told}.", *_to_look_at(found)]


def _overview(course: GradingCourse, lesson: Lesson) -> Overview:
    found = rows(course, lesson)
    statuses, reasons = {}, {}
    for row in found:
        copy = read_copy(course.folder, row.student, lesson.name)
        statuses[row.student] = copy.status if copy is not None else NOT_GRADED
        if copy is not None and copy.status == MALFORMED and copy.notes:
            reasons[row.student] = copy.notes[0]
    return Overview(lesson, found, statuses, reasons)


def _to_look_at(found: list[Overview]) -> list[str]:
    """Return a line for each status that is not "graded": how many, and the first names."""
    by_status: dict[str, list[str]] = {}
    for overview in found:
        for student, status in overview.statuses.items():
            if status != "graded":
                by_status.setdefault(status, []).append(f"{line(student)} {overview.lesson.name}")
    lines = ["Needs a look:"] if by_status else []
    for status, names in by_status.items():
        more = f", and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        lines.append(f"  {status}: {', '.join(names[:MOST_NAMED])}{more}")
        lines += _reasons(found) if status == MALFORMED else []
    return lines


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
