"""Where the roster and the hand-ins differ: who handed in nothing, and who is not in the roster."""

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.roster_file import ROSTER, listed, nearest
from grader.course.safe_text import line
from grader.course.wording import first
from grader.errors import PROGRAM

MOST_NAMED: Final = 8


def absent(course: GradingCourse, book: Book) -> Mapping[str, Sequence[str]]:
    """Return lesson -> the roster's students who handed in nothing of it, ordered.

    A lesson that nobody has handed in yet is left out: it may not have begun. Without a roster
    nobody is missed.
    """
    entries = listed(course.folder / ROSTER)
    if not (class_list := {str(entry["id"]) for entry in entries if not entry.get("left")}):
        return {}
    there: dict[str, set[str]] = defaultdict(set)
    for student, lesson in [*book.records, *course.submitted()]:
        there[lesson].add(student)
    missed = {lesson: sorted(class_list - students) for lesson, students in there.items()}
    return {lesson: students for lesson, students in missed.items() if students}


def not_in_roster(course: GradingCourse, book: Book) -> list[str]:
    """Return a sentence on whom the roster does not list, with who is near and what mends it.

    Without a roster nobody is told.
    """
    entries = listed(course.folder / ROSTER)
    if not (known := {str(entry["id"]) for entry in entries}):
        return []
    work: dict[str, set[str]] = {student: set() for student in book.people}
    for student, lesson in [*book.records, *course.submitted()]:
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
