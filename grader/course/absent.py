"""Where the roster and the hand-ins differ: who handed in nothing, and who is not in the roster."""

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from nbgrader.api import Assignment, SubmittedAssignment

from grader.course.course import GradingCourse
from grader.course.roster_file import ROSTER, listed, nearest
from grader.course.safe_text import line
from grader.course.wording import first
from grader.errors import PROGRAM

MOST_NAMED: Final = 8


def absent(course: GradingCourse) -> Mapping[str, Sequence[str]]:
    """Return lesson -> the roster's students who handed in nothing of it, ordered.

    A lesson that nobody has handed in yet is left out: it may not have begun. Without a roster
    nobody is missed.
    """
    entries = listed(course.folder / ROSTER)
    if not (class_list := {str(entry["id"]) for entry in entries if not entry.get("left")}):
        return {}
    there: dict[str, set[str]] = defaultdict(set)
    for student, lesson in [*_graded(course), *course.submitted()]:
        there[lesson].add(student)
    missed = {lesson: sorted(class_list - students) for lesson, students in there.items()}
    return {lesson: students for lesson, students in missed.items() if students}


def not_in_roster(course: GradingCourse) -> list[str]:
    """Return a sentence on whom the roster does not list, with who is near and what mends it.

    Without a roster nobody is told.
    """
    entries = listed(course.folder / ROSTER)
    if not (known := {str(entry["id"]) for entry in entries}):
        return []
    work: dict[str, set[str]] = {student: set() for student in course.students()}
    for student, lesson in [*_graded(course), *course.submitted()]:
        work.setdefault(student, set()).add(lesson)
    if not (strangers := sorted(work.keys() - known)):
        return []
    near = {student: nearest(student, entries) for student in strangers}
    told = first(
        [_told(student, work[student], near[student][1]) for student in strangers], MOST_NAMED
    )
    whose = next((f"--rename {_word(f'{s}={own}')}" for s, (own, _) in near.items() if own), "")
    ways = [f"say whose an id is (roster {whose})"] if whose else []
    ways += ["add them (roster FILE.csv)", f"take them out (roster --out {_word(strangers[0])})"]
    return [f"not in the roster: {told}. With {PROGRAM}: {', '.join(ways[:-1])}, or {ways[-1]}"]


def _told(student: str, work: set[str], near: str) -> str:
    return " ".join([line(student), *sorted(work)]) + (f" ({near})" if near else "")


def _word(name: str) -> str:
    return line(shlex.quote(name))


def _graded(course: GradingCourse) -> list[tuple[str, str]]:
    with course.gradebook() as gradebook:
        found = gradebook.db.query(SubmittedAssignment.student_id, Assignment.name).join(
            Assignment, Assignment.id == SubmittedAssignment.assignment_id
        )
        return [(student, lesson) for student, lesson in found]
