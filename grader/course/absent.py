"""Who of the roster handed in nothing: no score, report or status speaks of them."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from nbgrader.api import Assignment, SubmittedAssignment

from grader.course.course import GradingCourse

ROSTER: Final = Path("lms", "roster.json")  # what `roster` remembers, in the course's folder


def absent(course: GradingCourse) -> Mapping[str, Sequence[str]]:
    """Return lesson -> the roster's students who handed in nothing of it, ordered.

    A lesson that nobody has handed in yet is left out: it may not have begun. Without a roster
    nobody is missed.
    """
    if not (class_list := _listed(course.folder)):
        return {}
    there: dict[str, set[str]] = defaultdict(set)
    for student, lesson in [*_graded(course), *course.submitted()]:
        there[lesson].add(student)
    missed = {lesson: sorted(class_list - students) for lesson, students in there.items()}
    return {lesson: students for lesson, students in missed.items() if students}


def _graded(course: GradingCourse) -> list[tuple[str, str]]:
    with course.gradebook() as gradebook:
        found = gradebook.db.query(SubmittedAssignment.student_id, Assignment.name).join(
            Assignment, Assignment.id == SubmittedAssignment.assignment_id
        )
        return [(student, lesson) for student, lesson in found]


def _listed(folder: Path) -> set[str]:
    """Return the roster's ids; none of one that cannot be read, of which `roster` tells."""
    try:
        return {str(student["id"]) for student in json.loads((folder / ROSTER).read_bytes())}
    except (OSError, ValueError, TypeError, KeyError):
        return set()
