"""What the gradebook says of each student and lesson, as plain data for tables."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from nbgrader.api import Gradebook, MissingEntry

from grader.course.graded_copies import read_copy
from grader.course.penalties import seconds_late

NOT_SUBMITTED: Final = "not submitted"
NO_SCORE: Final = ("grader error", NOT_SUBMITTED)  # a zero there would be false


@dataclass(frozen=True)
class Grade:
    """One student's grade in one lesson.

    Attributes:
        status: as in the graded copy ("graded" where that is gone), or "not submitted".
        time: when it was handed in (UTC), if that is known.
        raw: points before the late penalty; 0 if nothing was handed in.
        exercises: id -> points; empty if nothing was handed in.
        late: seconds after the due date, an extension included.

    """

    student: str
    lesson: str
    status: str
    most: float
    time: datetime | None = None
    raw: float = 0.0
    penalty: float = 0.0
    exercises: dict[str, float] = field(default_factory=dict)
    late: float = 0.0

    @property
    def score(self) -> float | None:
        """The points that count; None if nothing was handed in, or the grader failed."""
        return None if self.status in NO_SCORE else max(0.0, self.raw - self.penalty)


def grades(gradebook: Gradebook, folder: Path, lesson: str) -> list[Grade]:
    """Return a lesson's grades, one for each student of the gradebook, ordered by id.

    Args:
        gradebook: an open one.
        folder: the one that holds autograded/.
        lesson: its name; a lesson that the gradebook does not have has no grades.

    """
    try:
        assignment = gradebook.find_assignment(lesson)
    except MissingEntry:
        return []
    found = {submission.student_id: submission for submission in assignment.submissions}
    return [
        _grade(found.get(student.id), student.id, assignment, folder)
        for student in sorted(gradebook.students, key=lambda student: str(student.id))
    ]


def _grade(submission: Any, student: str, assignment: Any, folder: Path) -> Grade:
    if submission is None:
        return Grade(student, assignment.name, NOT_SUBMITTED, assignment.max_score)
    copy = read_copy(folder, student, assignment.name)
    return Grade(
        student,
        assignment.name,
        copy.status if copy is not None else "graded",
        assignment.max_score,
        submission.timestamp,
        submission.score or 0.0,
        submission.late_submission_penalty or 0.0,
        dict(_exercises(submission)),
        seconds_late(submission),
    )


def _exercises(submission: Any) -> Iterator[tuple[str, float]]:
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            yield grade.name.removeprefix("test_"), grade.score or 0.0
