"""Find a file's student by ids, never by the file's name."""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from grader.course.roster_file import ALIKE, Student, by_keys
from grader.course.safe_text import line
from grader.lms.claims import Claim, hidden, hides_name


class Unmatched(Exception):
    """A file belongs to nobody, or to no lesson; the message says why."""


class Owners:
    """Finds the students whom files of one download are from.

    A number of the system decides where it is a student's. Else the name decides where it leaves
    no choice: one student of that name in the class, and one person of that name in the download
    whose number is nobody's. A number that is not in the download forbids nothing: Moodle's are
    one assignment's own.

    Args:
        system: "canvas" or "moodle".
        students: the class.
        claims: everything that the download's files say.

    Attributes:
        by_name: ids of those who were found by name though the roster has a number of theirs.

    """

    def __init__(self, system: str, students: Sequence[Student], claims: Collection[Claim]) -> None:
        self._system, self._field = system, FIELD[system]
        self._students = students
        self._by_key = by_keys(students, [self._field])
        people = {(_folded(claim.name), claim.key): claim for claim in claims}
        fits = {key: self._by_number(claim) for key, claim in people.items()}
        self._there = {student.id for student in fits.values() if student is not None}
        self._people = Counter(name for (name, key), own in fits.items() if own is None)
        self.by_name: set[str] = set()

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
        if getattr(student, self._field) not in ("", readings[0].key):
            self.by_name.add(student.id)
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
        if (student := self._by_number(claim)) is not None:
            return student
        who = f"{line(claim.name)} ({TITLE[self._system]} {claim.key})"
        if hides_name(self._system, claim):
            raise Unmatched(hidden(self._system))
        same = [s for s in self._students if self._is_named(s, claim)]
        same = [s for s in same if not getattr(s, self._field)] or same
        several = "several students have this name" if len(same) > 1 else "several handed in"
        if len(same) > 1 or (same and self._people[_folded(claim.name)] > 1):
            raise Unmatched(
                f"{several}: {who}. Add a column {self._field} to the roster to tell them apart"
            )
        if same and same[0].id in self._there:
            raise Unmatched(
                f"{who} has the name of {line(same[0].id)}, who handed in under another number"
            )
        if not same:
            raise Unmatched(f"nobody in the roster is {who}{self._near(claim)}")
        return same[0]

    def _by_number(self, claim: Claim) -> Student | None:
        """Return the student who has a file's number; in Moodle another's name outweighs it."""
        student = self._by_key.get((self._field, claim.key))
        if student is None or (self._system == "canvas" and hides_name("canvas", claim)):
            return None
        if self._system == "moodle" and not self._is_named(student, claim):
            others = [other for other in self._students if self._is_named(other, claim)]
            return None if len(others) == 1 else student
        return student

    def _near(self, claim: Claim) -> str:
        """Return whom a name is like, or who of Canvas's own it is."""
        if self._system == "canvas" and _folded(claim.name) == "studenttest":
            return ": it is Canvas's Test Student, made by Student View"
        names = {_folded(name): s.id for s in self._students for name in s.spellings}
        alike = difflib.get_close_matches(_folded(claim.name), names, n=1, cutoff=ALIKE)
        return f"; near is {line(names[alike[0]])}" if alike else ""

    def _is_named(self, student: Student, claim: Claim) -> bool:
        """Return whether a name in the download is a student's; in Moodle a group may precede."""
        wanted = {_folded(name) for name in student.spellings} - {""}
        parts = claim.name.split("-") if self._system == "moodle" else [claim.name]
        tails = ("-".join(parts[n:]) for n in range(len(parts)))
        return any(_folded(tail) in wanted for tail in tails)


FIELD: Final = {"canvas": "canvas_user_id", "moodle": "moodle_participant"}
TITLE: Final = {"canvas": "Canvas's user", "moodle": "Moodle's participant"}


def _folded(name: str) -> str:
    """Return the letters and digits of a name, small, without accents: Canvas drops all else."""
    bare = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\W_]+", "", "".join(c for c in bare if not unicodedata.combining(c)))
