"""When a file counts as handed in, as far as a download tells.

Canvas's download has the time of the download itself, but marks what came LATE for the assignment
that it is of. A student can put any notebook into it: of other lessons the mark says nothing.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from grader.course.course import GradingCourse
from grader.course.deadlines import deadlines
from grader.lms.claims import Claim

TOGETHER: Final = timedelta(hours=1)  # files of one late hand-in are uploaded one after another


@dataclass(frozen=True)
class Times:
    """What is known of one download's times.

    Attributes:
        due: (lesson, student) -> when it is due, with extensions; student "" stands for all.
        slot: the lesson whose assignment the system's marks speak of; None if that is not clear,
            or if it marks nothing (Moodle).

    """

    due: Mapping[tuple[str, str], datetime]
    slot: str | None

    def late(self, lesson: str, claim: Claim) -> bool | None:
        """Return whether the system says that a file is late; None if it does not say."""
        return claim.late if lesson == self.slot else None

    def due_for_all(self, lesson: str) -> datetime | None:
        """Return when a lesson is due, as the system knows it: without extensions."""
        return self.due.get((lesson, ""))

    def latest(self, lesson: str, student: str, notebook: datetime) -> datetime | None:
        """Return until when a file beside a notebook counts; None if there is no due date.

        It never makes the notebook late: a late one is left out instead.
        """
        due = self.due.get((lesson, student), self.due_for_all(lesson))
        return due and (due if notebook <= due else notebook + TOGETHER)


def due_dates(course: GradingCourse) -> dict[tuple[str, str], datetime]:
    """Return the due dates and extensions that the gradebook, or a waiting extension, has."""
    rows = deadlines(course)
    return {(r.lesson, r.student): r.due.replace(tzinfo=UTC) for r in rows if r.due is not None}


def slot_of(lessons: Sequence[str], hand_ins: Collection[tuple[str, str]]) -> str | None:
    """Return the lesson whose assignment a download is of; None if that is not clear.

    Args:
        lessons: those that were asked for; a single one is it.
        hand_ins: the students and lessons of the notebooks. One student alone does not decide, or
            a notebook in another assignment's place would be on time.

    """
    if len(lessons) == 1:
        return lessons[0]
    counts = Counter(lesson for _, lesson in hand_ins).most_common(2)
    numbers = [count for _, count in counts]
    is_clear = bool(counts) and numbers[0] > 1 and numbers[0] > sum(numbers[1:])
    return counts[0][0] if is_clear else None


def counted(told: datetime, due: datetime | None, late: bool | None) -> datetime:
    """Return the time that counts: on the side of the deadline where the system saw the file."""
    if due is None or late is None:
        return told
    return max(told, due + timedelta(seconds=1)) if late else min(told, due)
