"""Enter points for predictions in the gradebook, as extra credit with a comment.

nbgrader adds extra credit to a cell's score and keeps it when the cell is graded again. The extra
credit of HOME's test cell belongs to this command, which sets or clears it in every submission of
the lesson.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError

from grader.course.course import GradingCourse
from grader.errors import CourseError

LESSON: Final = "06_training"
HOME: Final = "tag_sentences"  # the exercise that predictions are made with


@dataclass(frozen=True)
class HandIn:
    """The result of one student's file.

    Attributes:
        points: extra credit; 0 if the file could not be scored.
        message: a sentence for the student.
        doubtful: whether it is above the best known tagger, so that the instructor should ask.

    """

    points: int
    message: str
    doubtful: bool = False


def enter(
    course: GradingCourse, hand_ins: Mapping[str, HandIn], unread: Collection[str] = ()
) -> list[str]:
    """Set or clear the extra credit of every graded submission of the lesson.

    Args:
        course: the course whose gradebook it is.
        hand_ins: student -> the result of their file; the others handed none in.
        unread: students whose file could not be read: what they have stays.

    Returns:
        Students whose notebook is not in the gradebook yet, so that nothing could be entered.

    Raises:
        CourseError: the gradebook cannot be copied before, or refuses the points.

    """
    course.back_up()
    with _submissions(course) as submissions:
        for student, submission in submissions.items():
            if student not in unread:
                _set(submission, hand_ins.get(student))
        return [student for student in hand_ins if student not in submissions]


@contextmanager
def _submissions(course: GradingCourse) -> Iterator[dict[str, Any]]:
    """Yield student -> submission of the lesson; keep changes only if all of them went well."""
    with course.gradebook() as gradebook:
        try:
            assignments = [a for a in gradebook.assignments if a.name == LESSON]
            yield {s.student.id: s for a in assignments for s in a.submissions}
            gradebook.db.commit()
        except SQLAlchemyError as error:
            gradebook.db.rollback()
            reason = getattr(error, "orig", None) or error
            raise CourseError(
                f"The gradebook refused the points for predictions ({reason}). Close the program "
                "that holds it, then run the same command."
            ) from None


def _set(submission: Any, hand_in: HandIn | None) -> None:
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            if grade.cell.name == f"test_{HOME}":
                grade.extra_credit = hand_in and float(hand_in.points)
        for comment in notebook.comments:
            if comment.cell.name == HOME and hand_in is not None:
                comment.auto_comment = hand_in.message
