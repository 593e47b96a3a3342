"""What the gradebook says of a class, read once for a command, with its graded copies.

nbgrader's own objects fetch each score by a query of its own, which is slow for a class.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import Any, Final, NamedTuple

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

from grader.course.graded_copies import FAILED, GRADED, GradedCopy, read_copy
from grader.course.hand_in_time import Came, from_canvas, late_by

LEAST: Final = 1e-9  # points
NOT_GRADED: Final = "not graded"
NOT_SUBMITTED: Final = "not submitted"
Key = tuple[str, str]  # a student's id, and a lesson's name


class Mark(NamedTuple):
    """One exercise's marks.

    Attributes:
        auto: the grader's score; None if there is none.
        manual: an instructor's score, which counts instead.
        extra: extra credit, added to either.
        points: what the exercise was worth when it was recorded.
        is_open: whether it was graded again since a person gave a score.

    """

    auto: float | None
    manual: float | None
    extra: float
    points: float
    is_open: bool = False

    @property
    def score(self) -> float:
        """The points that count."""
        base = self.auto if self.manual is None else self.manual
        return (base or 0.0) + self.extra

    @property
    def is_overruled(self) -> bool:
        """Whether a person's score hides another one, which the grader gave since."""
        known = self.is_open and self.manual is not None and self.auto is not None
        return known and abs((self.manual or 0.0) - (self.auto or 0.0)) > LEAST


class Remark(NamedTuple):
    """What was written beside one exercise: by the grader, by a person."""

    auto: str
    manual: str


class Person(NamedTuple):
    """A student as the gradebook knows them."""

    id: str
    first_name: str
    last_name: str
    email: str
    canvas_user_id: str


class Assigned(NamedTuple):
    """A lesson as the gradebook knows it: when it is due for all, in UTC, and its points."""

    due: datetime | None
    most: float


@dataclass(frozen=True)
class Record:
    """One submission in the gradebook, with its graded copy.

    Attributes:
        folder: the course's.
        name: the student's first and last name, if the roster has them.
        handed_in: when, in UTC without a time zone, as nbgrader keeps it.
        due: the lesson's due date with the student's extension, in UTC; None if there is none.
        extension: the student's own, added to the due date already.
        came: what is known of when it was handed in, if not that time.
        penalty: points taken off for lateness.
        marks: exercise -> marks.
        remarks: exercise -> what was written beside it.

    """

    folder: Path = field(repr=False)
    student: str
    lesson: str
    name: str = ""
    handed_in: datetime | None = None
    due: datetime | None = None
    extension: timedelta | None = None
    came: Came | None = None
    penalty: float = 0.0
    marks: Mapping[str, Mark] = field(default_factory=dict)
    remarks: Mapping[str, Remark] = field(default_factory=dict)

    @cached_property
    def copy(self) -> GradedCopy | None:
        """The graded copy; None if there is none that can be read."""
        return read_copy(self.folder, self.student, self.lesson)

    @property
    def status(self) -> str:
        """What became of the submission."""
        return self.copy.status if self.copy is not None else NOT_GRADED

    @property
    def has_score(self) -> bool:
        """Whether there is a score: our own failure is never a zero."""
        return self.status not in (FAILED, NOT_GRADED)

    @property
    def late_by(self) -> timedelta:
        """How long after its due date the work came in; zero if on time."""
        return late_by(self.handed_in, self.due)

    @property
    def is_day_known(self) -> bool:
        """Whether it is known how late it was."""
        return self.came is None or self.came.is_day_known

    @property
    def scores(self) -> dict[str, float]:
        """The points that count, by exercise."""
        return {exercise: mark.score for exercise, mark in self.marks.items()}

    @property
    def raw(self) -> float:
        """The points of all exercises."""
        return fsum(self.scores.values())

    @property
    def total(self) -> float:
        """The points that count, less the penalty."""
        return max(0.0, self.raw - self.penalty)

    @property
    def by_grader(self) -> dict[str, float]:
        """The grader's own scores by exercise; none if one is missing: it has to grade again."""
        found = {exercise: x.auto for exercise, x in self.marks.items() if x.auto is not None}
        return found if len(found) == len(self.marks) else {}


def exported_status(record: Record | None) -> str:
    """Return what tables of grades say of a submission; where its copy is gone, its score stays."""
    if record is None:
        return NOT_SUBMITTED
    return GRADED if record.copy is None else record.status


@dataclass(frozen=True)
class Book:
    """What the gradebook says.

    Attributes:
        folder: the course's.
        people: id -> student.
        lessons: name -> lesson.
        records: (student, lesson) -> submission, in order of lessons, then of students.

    """

    folder: Path
    people: Mapping[str, Person]
    lessons: Mapping[str, Assigned]
    records: Mapping[Key, Record]

    def of(self, lesson: str) -> list[Record]:
        """Return a lesson's submissions, ordered by student."""
        return [record for (_, name), record in self.records.items() if name == lesson]

    def record(self, student: str, lesson: str) -> Record:
        """Return a submission; one with nothing in it if the gradebook has none."""
        return self.records.get((student, lesson)) or Record(self.folder, student, lesson)


def read_book(gradebook: Gradebook, folder: Path) -> Book:
    """Read an open gradebook.

    Args:
        gradebook: nbgrader's.
        folder: the course's, with autograded/ and the notes on what was collected.

    """
    columns = (Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
    rows = sorted(gradebook.db.execute(select(Student.id, *columns)))
    people = {row[0]: Person(row[0], *(value or "" for value in row[1:])) for row in rows}
    lessons = {x.name: Assigned(x.duedate, x.max_score) for x in gradebook.assignments}
    records = {(x.student, x.lesson): x for x in _records(gradebook, folder, people, lessons)}
    return Book(folder, people, lessons, records)


def _records(
    gradebook: Gradebook,
    folder: Path,
    people: Mapping[str, Person],
    lessons: Mapping[str, Assigned],
) -> Iterator[Record]:
    marks: dict[Key, dict[str, Mark]] = {}
    columns = (Grade.auto_score, Grade.manual_score, Grade.extra_credit, GradeCell.max_score)
    joined = (Grade, Grade.notebook_id), (GradeCell, Grade.cell_id)
    for key, cell, *found, is_open in _cells(gradebook, joined, *columns, Grade.needs_manual_grade):
        auto, manual, extra, points = found
        mark = Mark(auto, manual, extra or 0.0, points or 0.0, bool(is_open))
        marks.setdefault(key, {})[cell.removeprefix("test_")] = mark
    remarks: dict[Key, dict[str, Remark]] = {}
    said = (Comment.auto_comment, Comment.manual_comment)
    joined = (Comment, Comment.notebook_id), (BaseCell, Comment.cell_id)
    for key, cell, auto, manual in _cells(gradebook, joined, *said):
        if auto or manual:
            remarks.setdefault(key, {})[cell] = Remark(auto or "", manual or "")
    came = {lesson: from_canvas(folder, lesson) for lesson in lessons}
    when = (SubmittedAssignment.timestamp, SubmittedAssignment.extension)
    query = _submissions(*when, SubmittedNotebook.late_submission_penalty)
    for student, lesson, handed_in, extension, lost in sorted(
        gradebook.db.execute(query), key=lambda row: (row[1], row[0])
    ):
        key, due = (student, lesson), lessons[lesson].due
        due = due + extension if due is not None and extension is not None else due
        name = " ".join(filter(None, people[student][1:3]))
        time, told = came[lesson].get(student, (None, None))
        is_noted = handed_in is not None and handed_in.replace(tzinfo=UTC) == time
        known = told if is_noted else None
        own = marks.get(key, {}), remarks.get(key, {})
        yield Record(folder, *key, name, handed_in, due, extension, known, lost or 0.0, *own)


def _submissions(*columns: Any) -> Any:
    """Return a query for columns of every submission, after its student and lesson."""
    return (
        select(Student.id, Assignment.name, *columns)
        .select_from(SubmittedAssignment)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .outerjoin(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    )


def _cells(gradebook: Gradebook, joined: Any, *columns: Any) -> Iterable[Any]:
    """Return columns of every cell with a score, or with a remark: submission, cell's name, ...

    A database gives rows in any order, and a record has but one.
    """
    (kind, notebook), (cell, cell_id) = joined
    query = (
        _submissions(cell.name, *columns)
        .join(kind, notebook == SubmittedNotebook.id)
        .join(cell, cell.id == cell_id)
    )
    for student, lesson, name, *found in sorted(
        gradebook.db.execute(query), key=lambda row: tuple(row[:3])
    ):
        yield (student, lesson), name, *found
