"""Extensions of students who have not submitted yet: nbgrader has no place for them till then."""

import json
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import msgspec
from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment

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
        return msgspec.json.decode(path.read_bytes(), type=Waiting)
    except FileNotFoundError:
        return {}
    except (msgspec.MsgspecError, RecursionError, ValueError):
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
    with suppress(MissingEntry):
        return gradebook.find_submission(lesson, student)
    return None


def apply_waiting(course: GradingCourse) -> None:
    """Enter the extensions whose submissions are in the gradebook by now.

    Interrupted between the gradebook and the file, it does the same again.
    """
    waiting = waiting_extensions(course)
    if not waiting:
        return
    with course.transaction() as gradebook:
        for lesson, students in waiting.items():
            for student, seconds in list(students.items()):
                if (submission := find(gradebook, lesson, student)) is not None:
                    submission.extension = timedelta(seconds=seconds)
                    del students[student]
    keep_waiting(course, waiting)


def _file(course: GradingCourse) -> Path:
    return course.folder / ".course" / "extensions.json"
