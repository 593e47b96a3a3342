"""Choose the submissions to grade, each with the reason, and leave the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.graded_copies import FAILED, fingerprint, is_entered
from grader.course.nbgrader_autograde import is_current
from grader.grading.submitted import as_graded, read
from grader.regular_file import Unreadable

Submission = tuple[str, str]
Judges = Mapping[str, Mapping[str, str]]  # lesson -> exercise -> fingerprint of what judges it


class Stale(NamedTuple):
    """Why a submission is judged anew: the exercises, and the scores before by exercise."""

    exercises: tuple[str, ...]
    scores: Mapping[str, float]


@dataclass
class Waiting:
    """Submissions by what is to be done with them.

    Attributes:
        new: not graded yet, or submitted again since.
        changed: graded, but something that judges them has changed -> what.
        left: graded by nbgrader's own engine, which is not overruled unasked.

    """

    new: list[Submission] = field(default_factory=list)
    changed: dict[Submission, Stale] = field(default_factory=dict)
    left: list[Submission] = field(default_factory=list)

    @property
    def all(self) -> list[Submission]:
        """Everything that is to be graded, in order."""
        return sorted([*self.new, *self.changed])


def sort_out(
    course: GradingCourse, submissions: Sequence[Submission], judges: Judges, book: Book
) -> Waiting:
    """Look at every submission, its graded copy and whether the gradebook has its scores."""
    waiting = Waiting()
    for student, lesson in submissions:
        record = book.record(student, lesson)
        scores = record.by_grader if is_entered(course.folder, student, lesson) else {}
        copy = record.copy if scores and record.status != FAILED else None
        if copy is None:
            waiting.new.append((student, lesson))
        elif not copy.is_ours:
            current = is_current(course.folder, student, lesson)
            (waiting.left if current else waiting.new).append((student, lesson))
        elif not _is_same(course, student, lesson, copy.submission) or (
            copy.judged_by.keys() & judges[lesson].keys() - scores.keys()
        ):  # submitted again, or a score is gone from the gradebook
            waiting.new.append((student, lesson))
        elif changed := _differing(copy.judged_by, judges[lesson]):
            waiting.changed[student, lesson] = Stale(changed, scores)
    return waiting


def _is_same(course: GradingCourse, student: str, lesson: str, graded: str) -> bool:
    """Return whether what was graded is what is submitted, its time and its secret included.

    What cannot be read is not known to be the same: grading meets it again, and tells it.
    """
    try:
        now, then = read(course, student, lesson), as_graded(course, student, lesson)
    except Unreadable:
        return False
    return fingerprint(now.data) == graded and then == (now.timestamp, now.secret)


def _differing(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the exercises that are judged otherwise now; also those that came or went."""
    return tuple(name for name in {**now, **then} if then.get(name) != now.get(name))
