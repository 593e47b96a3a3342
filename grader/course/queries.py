"""One query for the scores of a whole class: nbgrader's own objects ask for each by itself."""

from typing import Any

from nbgrader.api import (
    Assignment,
    Grade,
    GradeCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)


def scores_of_all(db: Any, *columns: Any) -> Any:
    """Return a query for columns of Student, Assignment, GradeCell and Grade, a row per score."""
    return (
        db.query(*columns)
        .select_from(Grade)
        .join(GradeCell, GradeCell.id == Grade.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
    )
