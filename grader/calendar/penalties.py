"""Late penalties, by nbgrader's plugin, as the gradebook's due dates and extensions are now.

nbgrader sets a penalty when it grades. Here all are set anew whenever this course is graded, so
that an extension granted later, a due date moved, or a score changed by hand takes effect.
"""

from collections.abc import Iterator
from typing import Any

from nbgrader.api import Assignment, Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import or_
from traitlets.config import Config

from grader.calendar.deadlines import apply_waiting
from grader.course.course import GradingCourse
from grader.course.hand_in_time import late_by
from grader.errors import CourseError

LEAST = 1e-9  # points


def settle(course: GradingCourse, *, is_backed_up: bool) -> int:
    """Set every late penalty anew.

    Args:
        course: the course whose gradebook it is.
        is_backed_up: whether this run has copied the gradebook already.

    Returns:
        How many penalties are other than before.

    Raises:
        CourseError: the penalty plugin fails.

    """
    apply_waiting(course)
    with course.gradebook() as gradebook:
        changes = list(_changes(gradebook, course.config))
    if changes:
        if not is_backed_up:
            course.back_up()
        with course.transaction() as gradebook:
            for notebook, points in changes:
                gradebook.db.get(SubmittedNotebook, notebook).late_submission_penalty = points
    return len(changes)


def seconds_late(submission: SubmittedAssignment) -> float:
    """Return how late a submission of the gradebook is."""
    due = submission.assignment.duedate
    return late_by(submission.timestamp, due, submission.extension).total_seconds()


def _changes(gradebook: Gradebook, config: Config) -> Iterator[tuple[str, float | None]]:
    """Yield ids of submitted notebooks, with the penalty that each should have and has not."""
    step = AssignLatePenalties(config=config)
    step.init_plugin()
    for notebook in _candidates(gradebook):
        points = _points(step.plugin_inst, notebook)
        if abs((points or 0.0) - (notebook.late_submission_penalty or 0.0)) > LEAST:
            yield notebook.id, points


def _candidates(gradebook: Gradebook) -> list[Any]:
    """Return the submitted notebooks that may be late, or have a penalty."""
    return list(
        gradebook.db.query(SubmittedNotebook)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(
            or_(
                Assignment.duedate.is_not(None),
                SubmittedNotebook.late_submission_penalty.is_not(None),
            )
        )
    )


def _points(plugin: Any, notebook: Any) -> float | None:
    """Ask the plugin as nbgrader does: never below zero, never more than the score."""
    late = seconds_late(notebook.assignment)
    if late <= 0:
        return None
    student = notebook.assignment.student.id
    try:
        points = plugin.late_submission_penalty(student, notebook.score, late)
        return None if points is None else max(0.0, min(float(points), notebook.score))
    except Exception as error:
        raise CourseError(
            f"The late penalty plugin {type(plugin).__name__} failed on {student} "
            f"({type(error).__name__}: {error}). Scores are safe; penalties are as they were."
        ) from error
