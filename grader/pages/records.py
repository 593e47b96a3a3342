"""What the gradebook says of a lesson's submissions, read in a few queries for the whole class.

nbgrader's own objects fetch each score by a query of its own, which is slow for a class.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from grader.course.course import GradingCourse
from grader.course.hand_in_time import Came, from_canvas, late_by
from grader.errors import CourseError


@dataclass(frozen=True)
class Mark:
    """One exercise's marks.

    Attributes:
        auto: the grader's score; None if there is none.
        manual: an instructor's score, which counts instead.
        extra: extra credit, added to either.
        points: what the exercise was worth when it was recorded.

    """

    auto: float | None
    manual: float | None
    extra: float
    points: float

    @property
    def score(self) -> float:
        """The points that count."""
        base = self.auto if self.manual is None else self.manual
        return (base or 0.0) + self.extra


@dataclass(frozen=True)
class Remark:
    """What was written beside one exercise: by the grader, by a person."""

    auto: str
    manual: str


@dataclass(frozen=True)
class Record:
    """One submission in the gradebook.

    Attributes:
        name: the student's first and last name, if the roster has them.
        handed_in: when, in UTC without a time zone, as nbgrader keeps it.
        due: the lesson's due date with the student's extension, in UTC; None if there is none.
        extension: the student's own, added to the due date already.
        came: what is known of when it was handed in, if not that time.
        penalty: points taken off for lateness.
        marks: exercise -> marks.
        remarks: exercise -> what was written beside it.

    """

    name: str = ""
    handed_in: datetime | None = None
    due: datetime | None = None
    extension: timedelta | None = None
    came: Came | None = None
    penalty: float = 0.0
    marks: dict[str, Mark] = field(default_factory=dict)
    remarks: dict[str, Remark] = field(default_factory=dict)

    @property
    def late_by(self) -> timedelta:
        """How long after its due date the work came in; zero if on time."""
        return late_by(self.handed_in, self.due)

    @property
    def total(self) -> float:
        """The points that count, less the penalty."""
        return max(0.0, sum(mark.score for mark in self.marks.values()) - self.penalty)


def records(course: GradingCourse, lesson: str) -> dict[str, Record]:
    """Return student -> record of a lesson.

    Raises:
        CourseError: the gradebook cannot be read.

    """
    with course.gradebook() as gradebook:
        try:
            return _records(gradebook, lesson, from_canvas(course.folder, lesson))
        except SQLAlchemyError as error:
            reason = getattr(error, "orig", None) or error
            raise CourseError(
                f"The gradebook in {course.folder} cannot be read ({reason}). Close the program "
                "that holds it, then run the same command."
            ) from None


def _records(
    gradebook: Gradebook, lesson: str, noted: Mapping[str, tuple[datetime, Came]]
) -> dict[str, Record]:
    marks, remarks = _marks(gradebook, lesson), _remarks(gradebook, lesson)
    found = {}
    for row in _of(
        gradebook,
        lesson,
        [
            Student.id,
            Student.first_name,
            Student.last_name,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
            Assignment.duedate,
            SubmittedNotebook.late_submission_penalty,
        ],
    ):
        student, first, last, handed_in, extension, due, penalty = row
        due = due + extension if due is not None and extension is not None else due
        name = " ".join(filter(None, [first, last]))
        own = marks.get(student, {}), remarks.get(student, {})
        time, came = noted.get(student, (None, None))
        is_noted = handed_in is not None and handed_in.replace(tzinfo=UTC) == time
        known = came if is_noted else None
        found[student] = Record(name, handed_in, due, extension, known, penalty or 0.0, *own)
    return found


def _of(gradebook: Gradebook, lesson: str, columns: list[Any], *joins: Any) -> Iterable[Any]:
    """Return columns of every submission of a lesson."""
    query = (
        select(*columns)
        .select_from(SubmittedAssignment)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .where(Assignment.name == lesson)
    )
    for target, condition in joins:
        query = query.join(target, condition)
    rows: Iterable[Any] = gradebook.db.execute(query)
    return rows


def _marks(gradebook: Gradebook, lesson: str) -> dict[str, dict[str, Mark]]:
    found: dict[str, dict[str, Mark]] = {}
    columns = [
        Student.id,
        GradeCell.name,
        Grade.auto_score,
        Grade.manual_score,
        Grade.extra_credit,
        GradeCell.max_score,
    ]
    joins = [
        (Grade, Grade.notebook_id == SubmittedNotebook.id),
        (GradeCell, GradeCell.id == Grade.cell_id),
    ]
    rows = sorted(_of(gradebook, lesson, columns, *joins), key=_by_cell)
    for student, cell, auto, manual, extra, points in rows:
        exercise = cell.removeprefix("test_")
        mark = Mark(auto, manual, extra or 0.0, points or 0.0)
        found.setdefault(student, {})[exercise] = mark
    return found


def _remarks(gradebook: Gradebook, lesson: str) -> dict[str, dict[str, Remark]]:
    found: dict[str, dict[str, Remark]] = {}
    columns = [Student.id, BaseCell.name, Comment.auto_comment, Comment.manual_comment]
    joins = [
        (Comment, Comment.notebook_id == SubmittedNotebook.id),
        (BaseCell, BaseCell.id == Comment.cell_id),
    ]
    for student, cell, auto, manual in sorted(
        _of(gradebook, lesson, columns, *joins), key=_by_cell
    ):
        if auto or manual:
            found.setdefault(student, {})[cell] = Remark(auto or "", manual or "")
    return found


def _by_cell(row: Any) -> tuple[str, str]:
    """Return what to sort by: a database gives rows in any order, and a record has but one."""
    return row[0], row[1]
