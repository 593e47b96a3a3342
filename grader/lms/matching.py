"""Whose a file is: by ids, never by what a file is called."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from grader.course.safe_text import line
from grader.lms.claims import Claim
from grader.lms.roster import Student


class Unmatched(Exception):
    """A file belongs to nobody, or to no lesson; the message says why."""


class Owners:
    """Finds the students whom files of one download are from.

    A name alone decides only where it leaves no choice: one student of that name in the class
    whose id in the system is not known, and one person of that name in the download.

    Args:
        system: "canvas" or "moodle".
        students: the class.
        claims: everything that the download's files say.

    """

    def __init__(self, system: str, students: Sequence[Student], claims: Collection[Claim]) -> None:
        field = FIELD[system]
        self._system = system
        self._by_key = {key: s for s in students if (key := getattr(s, field))}
        self._nameless = [s for s in students if not getattr(s, field)]
        people = {(_folded(claim.name), claim.key) for claim in claims}
        self._people = Counter(name for name, _ in people)

    def owner_of(self, readings: Sequence[Claim]) -> Student:
        """Return the student whom a file's name means as it is usually read.

        Raises:
            Unmatched: it means none, or a student when it is read otherwise, too.

        """
        student = self.owner(readings[0])
        others = [other for claim in readings[1:] if (other := self._found(claim))]
        if others:
            ids = dict.fromkeys(line(found.id) for found in (student, *others))
            raise Unmatched(
                f"its name can be read in several ways: as one of {', '.join(ids)}. Ask them"
            )
        return student

    def _found(self, claim: Claim) -> Student | None:
        with suppress(Unmatched):
            return self.owner(claim)
        return None

    def owner(self, claim: Claim) -> Student:
        """Return the student.

        Raises:
            Unmatched: there is none, or there are several.

        """
        if claim.key in self._by_key:
            return self._by_key[claim.key]
        who = f"{line(claim.name)} ({TITLE[self._system]} {claim.key})"
        same = [s for s in self._nameless if self._is_named(s, claim)]
        if len(same) > 1 or (same and self._people[_folded(claim.name)] > 1):
            several = "several students have this name" if len(same) > 1 else "several handed in"
            raise Unmatched(
                f"{several}: {who}. Add a column {FIELD[self._system]} to the roster to tell them "
                "apart"
            )
        if not same:
            raise Unmatched(f"nobody in the roster is {who}")
        return same[0]

    def _is_named(self, student: Student, claim: Claim) -> bool:
        """Return whether a name in the download is a student's; in Moodle a group may precede."""
        wanted = {_folded(name) for name in _spellings(student)} - {""}
        parts = claim.name.split("-") if self._system == "moodle" else [claim.name]
        tails = ("-".join(parts[n:]) for n in range(len(parts)))
        return any(_folded(tail) in wanted for tail in tails)


FIELD: Final = {"canvas": "canvas_user_id", "moodle": "moodle_participant"}
TITLE: Final = {"canvas": "Canvas's user", "moodle": "Moodle's participant"}


def _spellings(student: Student) -> tuple[str, ...]:
    first, last = student.names
    return f"{first} {last}", f"{last} {first}", student.name


def _folded(name: str) -> str:
    """Return the letters and digits of a name, small, without accents: Canvas drops all else."""
    bare = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\W_]+", "", "".join(c for c in bare if not unicodedata.combining(c)))
