"""Where the roster and the hand-ins differ: who handed in nothing, and who is not in the roster."""

import difflib
import json
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from nbgrader.api import Assignment, SubmittedAssignment

from grader.course.course import GradingCourse
from grader.course.safe_text import line
from grader.course.wording import first
from grader.errors import PROGRAM

ROSTER: Final = Path("lms", "roster.json")  # what `roster` remembers, in the course's folder
MOST_NAMED: Final = 8
ALIKE: Final = 0.8  # of two ids, one of which is probably mistyped
WORDS: Final = {
    "email": "e-mail address", "canvas_user_id": "Canvas user id", "sis_user_id": "SIS user id",
    "sis_login_id": "SIS login id", "moodle_id_number": "Moodle ID number",
    "github_username": "GitHub name",
}  # fmt: skip


def absent(course: GradingCourse) -> Mapping[str, Sequence[str]]:
    """Return lesson -> the roster's students who handed in nothing of it, ordered.

    A lesson that nobody has handed in yet is left out: it may not have begun. Without a roster
    nobody is missed.
    """
    entries = listed(course.folder)
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
    entries = listed(course.folder)
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


def nearest(who: str, entries: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the roster's id that an unknown one may stand for, and why; "" if there is none."""
    own = folded(who)
    for entry in entries:
        if folded(entry["id"]) == own:
            return entry["id"], f"differs only by case from {line(entry['id'])}"
    for field, words in WORDS.items():
        for entry in entries:
            if own == folded(entry.get(field, "")):
                return entry["id"], f"the {words} of {line(entry['id'])}"
    names = {folded(name): entry["id"] for entry in entries for name in _names(entry)}
    alike = difflib.get_close_matches(own.partition("@")[0], names, n=1, cutoff=ALIKE)
    return (names[alike[0]], f"perhaps {line(names[alike[0]])}") if alike else ("", "")


def aliases(folder: Path) -> dict[str, str]:
    """Return the other ids under which students of the roster hand in -> the roster's."""
    return {str(name): str(x["id"]) for x in listed(folder) for name in x.get("also", ())}


def removed(folder: Path) -> set[str]:
    """Return who left, and whose work was to go with them."""
    return {str(entry["id"]) for entry in listed(folder) if entry.get("left") == REMOVED}


KEPT: Final = "work kept"
REMOVED: Final = "work removed"


def listed(folder: Path) -> list[dict[str, Any]]:
    """Return what the roster says; nothing of one that cannot be read, of which `roster` tells."""
    try:
        entries = [dict(student) for student in json.loads((folder / ROSTER).read_bytes())]
        return [entry for entry in entries if entry["id"]]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def folded(name: str) -> str:
    """Return an id in small letters, an accented one written in one way."""
    return unicodedata.normalize("NFC", name).casefold()


def _names(entry: Mapping[str, Any]) -> list[str]:
    """Return what somebody may be called by mistake: an id or address up to its @, a name."""
    parts = [entry.get("first_name", ""), entry.get("last_name", "")]
    last, _, given = entry.get("name", "").partition(",")
    whole = [" ".join(parts), " ".join(parts[::-1]), f"{given} {last}", f"{last} {given}"]
    ids = [folded(entry.get(field, "")).partition("@")[0] for field in ("id", "email")]
    return [name for name in map(str.strip, [*ids, *whole]) if name]


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
