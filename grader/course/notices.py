"""What the gradebook holds that a person should know of, and that no status tells."""

from collections.abc import Iterator
from typing import Any, Final

from nbgrader.api import Assignment, Grade, GradeCell, Student

from grader.course.course import GradingCourse
from grader.course.queries import scores_of_all
from grader.course.safe_text import line
from grader.course.wording import first

MOST_SCORES: Final = 3
LEAST: Final = 1e-9  # points
RESOLVE: Final = "In make teach, Resolve keeps yours, an empty field lets the grader's count"


def notices(course: GradingCourse) -> list[str]:
    """Return a line for each kind of notice, with the first whom it concerns."""
    with course.gradebook() as gradebook:
        return [*_overruled(gradebook.db)]


def _overruled(db: Any) -> Iterator[str]:
    """Yield a line on scores by hand that hide what was graded since.

    nbgrader's mark is set when something with a score by hand is graded again, and taken off when a
    person resolves it in formgrader.
    """
    found = [
        f"{line(student)} {lesson} {cell.removeprefix('test_')} "
        f"(yours {by_hand:g}, the grader's {score:g})"
        for student, lesson, cell, by_hand, score in _marked(db)
        if abs(by_hand - score) > LEAST
    ]
    if found:
        told = first(found, MOST_SCORES)
        yield f"score by hand differs from the grader's new one: {told}. {RESOLVE}"


def _marked(db: Any) -> Any:
    columns = Student.id, Assignment.name, GradeCell.name, Grade.manual_score, Grade.auto_score
    return (
        scores_of_all(db, *columns)
        .filter(Grade.needs_manual_grade, Grade.manual_score.is_not(None))
        .filter(Grade.auto_score.is_not(None))
        .order_by(Student.id, Assignment.name, GradeCell.name)
    )
