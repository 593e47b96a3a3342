"""The class as all sources together know it: the gradebook, what we wrote down, a new roster."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from grader.course.course import GradingCourse
from grader.course.private import write_private
from grader.errors import CourseError
from grader.lms.class_list import read_roster
from grader.lms.roster import Student, merged


def members(course: GradingCourse, roster: Path | None = None) -> list[Student]:
    """Return the class; a roster that is given is remembered, and entered into the gradebook.

    Raises:
        CourseError: the roster is faulty, does not fit what is known, or the gradebook
            cannot be copied before it is changed.

    """
    new = read_roster(roster) if roster is not None else []
    known = merged(_in_gradebook(course), _remembered(course), new)
    students = sorted(known, key=lambda student: student.id)
    if new:
        course.back_up()
        _enter(course, [student for student in students if student.id in {s.id for s in new}])
        text = json.dumps([asdict(student) for student in students], indent=1, ensure_ascii=False)
        write_private(_file(course), text + "\n")
    return students


def _file(course: GradingCourse) -> Path:
    return course.folder / "lms" / "roster.json"


def _remembered(course: GradingCourse) -> list[Student]:
    """Read what an earlier roster said; nbgrader's tables have no place for most of it."""
    try:
        known = json.loads(_file(course).read_text(encoding="utf-8"))
        return [Student(**student) for student in known]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        raise CourseError(
            f"{_file(course)} cannot be read ({error}). Remove it and give the roster again, with "
            "--roster."
        ) from None


def _in_gradebook(course: GradingCourse) -> list[Student]:
    with course.gradebook() as gradebook:
        return [
            Student(
                id=student.id,
                first_name=student.first_name or "",
                last_name=student.last_name or "",
                email=student.email or "",
                canvas_user_id=student.lms_user_id or "",
            )
            for student in gradebook.students
        ]


def _enter(course: GradingCourse, students: Sequence[Student]) -> None:
    """Write students into nbgrader's gradebook; what a roster does not say stays."""
    with course.gradebook() as gradebook:
        for student in students:
            first, last = student.names
            about = {
                "first_name": first,
                "last_name": last,
                "email": student.email,
                "lms_user_id": student.canvas_user_id,
            }
            gradebook.update_or_create_student(student.id, **{k: v for k, v in about.items() if v})
