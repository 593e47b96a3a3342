"""Extensions of students who have not submitted yet: nbgrader has no place for them till then."""

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment

from grader.course.course import GradingCourse
from grader.course.private import write_private
from grader.errors import PROGRAM, CourseError

Waiting = dict[str, dict[str, float]]  # lesson -> student -> seconds after the lesson's due date


def waiting_extensions(course: GradingCourse) -> Waiting:
    """Read what was granted before a submission.

    Raises:
        CourseError: the file was changed by hand and cannot be read.

    """
    path = _file(course)
    try:
        return {
            str(lesson): {str(student): float(seconds) for student, seconds in of.items()}
            for lesson, of in json.loads(path.read_text(encoding="utf-8")).items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError, TypeError):
        raise CourseError(
            f"{path} cannot be read. Remove it and set the extensions again: "
            f"{PROGRAM} deadlines FILE.csv"
        ) from None


def keep_waiting(course: GradingCourse, waiting: Waiting) -> None:
    """Write what waits for a submission, in one step."""
    left = {lesson: students for lesson, students in waiting.items() if students}
    if left or _file(course).exists():
        write_private(_file(course), json.dumps(left, indent=1) + "\n")


def find(gradebook: Gradebook, lesson: str, student: str) -> SubmittedAssignment | None:
    """Return a student's submission as the gradebook has it."""
    return (
        gradebook.db.query(SubmittedAssignment)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .filter(Assignment.name == lesson, Student.id == student)
        .one_or_none()
    )


def apply_waiting(course: GradingCourse) -> None:
    """Enter the extensions whose submissions are in the gradebook by now.

    Interrupted between the gradebook and the file, it does the same again.
    """
    waiting = waiting_extensions(course)
    if not waiting:
        return
    left: Waiting = {}
    with course.transaction() as gradebook:
        for lesson, students in waiting.items():
            left[lesson] = _enter(gradebook, lesson, students)
    keep_waiting(course, left)


def _enter(gradebook: Gradebook, lesson: str, students: Mapping[str, float]) -> dict[str, float]:
    """Enter a lesson's extensions; return those that still wait."""
    left = {}
    for student, seconds in students.items():
        submission = find(gradebook, lesson, student)
        if submission is None:
            left[student] = seconds
        else:
            submission.extension = timedelta(seconds=seconds)
    return left


def _file(course: GradingCourse) -> Path:
    return course.folder / ".course" / "extensions.json"
