"""The class as all sources together know it: the gradebook, what we wrote down, a new roster."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.course.absent import ROSTER
from grader.course.course import GradingCourse
from grader.course.private import write_private
from grader.errors import CourseError
from grader.lms.class_list import read_roster
from grader.lms.roster import OF_SYSTEMS, Student, merged
from grader.lms.tables import few


@dataclass(frozen=True)
class Members:
    """The class.

    Attributes:
        students: in the order of their ids.
        doubles: ids in the gradebook that no roster lists, but for one that differs by case.

    """

    students: list[Student]
    doubles: list[str]

    @property
    def notes(self) -> list[str]:
        """A sentence on who is left out, if anybody is."""
        if not self.doubles:
            return []
        return [
            "Left out, for the roster lists another id that differs only by case: "
            f"{few(self.doubles)}. If the roster's is wrong, correct it there and in "
            "lms/roster.json."
        ]


def members(course: GradingCourse, roster: Path | None = None) -> Members:
    """Return the class; a roster that is given is remembered, and entered into the gradebook.

    Raises:
        CourseError: the roster is faulty, does not fit what is known, or the gradebook
            cannot be copied before it is changed.

    """
    new = read_roster(roster) if roster is not None else []
    listed = merged(_remembered(course), new)
    found = _in_gradebook(course)
    doubles = _doubles(found, listed)
    others = [student for student in found if student.id not in doubles]
    known = merged(others, listed, own=OF_SYSTEMS)
    students = sorted(known, key=lambda student: student.id)
    if new:
        course.back_up()
        _enter(course, [student for student in students if student.id in {s.id for s in new}])
        text = json.dumps([asdict(student) for student in students], indent=1, ensure_ascii=False)
        write_private(_file(course), text + "\n")
    return Members(students, doubles)


def _doubles(found: Sequence[Student], listed: Sequence[Student]) -> list[str]:
    """Return the ids in the gradebook that stand beside one of the roster's.

    Whoever hands in chooses how the own name is written, so no other's grades may depend on it.
    """
    ids = {student.id for student in listed}
    folded = {name.casefold() for name in ids}
    return [s.id for s in found if s.id not in ids and s.id.casefold() in folded]


def _file(course: GradingCourse) -> Path:
    return course.folder / ROSTER


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
