"""Keep who is in the class, and say who somebody in it may be; nothing of the course is loaded.

nbgrader's own programs load their steps while they are loaded themselves.
"""

import difflib
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from grader.course.private import write_private
from grader.course.safe_text import line
from grader.errors import CourseError

ROSTER: Final = Path("lms", "roster.json")  # what `roster` remembers, in the course's folder
ALIKE: Final = 0.8  # of two ids, one of which is probably mistyped
KEPT: Final = "work kept"  # of who left the class
REMOVED: Final = "work removed"
# What no two students may share, or one would get the other's work or grade.
OF_SYSTEMS: Final = (
    "email", "canvas_user_id", "sis_user_id", "sis_login_id", "moodle_id_number",
    "moodle_participant", "github_username",
)  # fmt: skip
OWN: Final = ("id", *OF_SYSTEMS)
# Field -> what an unknown id is that equals a student's.
EQUAL: Final = {
    "id": "differs only by case from {}",
    "email": "the e-mail address of {}",
    "canvas_user_id": "the Canvas user id of {}",
    "sis_user_id": "the SIS user id of {}",
    "sis_login_id": "the SIS login id of {}",
    "moodle_id_number": "the Moodle ID number of {}",
    "github_username": "the GitHub name of {}",
}


class Student(msgspec.Struct, frozen=True):
    """One student; whatever is not known is empty.

    Attributes:
        id: nbgrader's, and the name of the student's folders.
        name: as a roster writes it, "Last, First" or "First Last", if not in two columns.
        moodle_participant: Moodle's number of the student in one assignment.
        also: other ids under which the student hands in.
        left: "" for who is in the class; else what became of the work of who left it.
        listed: whether a roster has the student, if there is one, and not the gradebook alone.

    """

    id: str
    first_name: str = ""
    last_name: str = ""
    name: str = ""
    email: str = ""
    canvas_user_id: str = ""
    sis_user_id: str = ""
    sis_login_id: str = ""
    moodle_id_number: str = ""
    moodle_participant: str = ""
    github_username: str = ""
    also: tuple[str, ...] = ()
    left: str = ""
    listed: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """First and last names, as far as they can be told apart."""
        if self.first_name or self.last_name or not self.name:
            return self.first_name, self.last_name
        last, comma, first = self.name.partition(",")
        if not comma:
            first, _, last = self.name.rpartition(" ")
        return first.strip(), last.strip()

    @property
    def spellings(self) -> tuple[str, ...]:
        """The ways in which the name may be written."""
        first, last = self.names
        return f"{first} {last}", f"{last} {first}", self.name


def remembered(folder: Path) -> list[Student]:
    """Read what an earlier roster said; nbgrader's tables have no place for most of it.

    Raises:
        CourseError: it cannot be read.

    """
    try:
        return msgspec.json.decode((folder / ROSTER).read_bytes(), type=list[Student])
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise CourseError(
            f"{folder / ROSTER} cannot be read ({error}). Remove it and give the roster again, "
            "with --roster."
        ) from None


def remember(folder: Path, students: Sequence[Student]) -> None:
    """Write down who is in the class, and who left it."""
    text = msgspec.json.format(msgspec.json.encode(students), indent=1)
    write_private(folder / ROSTER, text + b"\n")


def listed(folder: Path) -> list[Student]:
    """Return what the roster says; nothing of one that cannot be read, of which `roster` tells."""
    with suppress(CourseError):
        return remembered(folder)
    return []


def aliases(folder: Path) -> dict[str, str]:
    """Return the other ids under which students of the roster hand in -> the roster's."""
    return {name: student.id for student in listed(folder) for name in student.also}


def removed(folder: Path) -> set[str]:
    """Return who left, and whose work was to go with them."""
    return {student.id for student in listed(folder) if student.left == REMOVED}


def meant_by(who: str, students: Sequence[Student]) -> tuple[str, str]:
    """Return the roster's id that an unknown one may stand for, and why; "" if there is none."""
    own = folded(who)
    for field, words in EQUAL.items():
        for student in students:
            if own == folded(getattr(student, field)):
                return student.id, words.format(line(student.id))
    names = {folded(name): student.id for student in students for name in _names(student)}
    alike = difflib.get_close_matches(own.partition("@")[0], names, n=1, cutoff=ALIKE)
    return (names[alike[0]], f"perhaps {line(names[alike[0]])}") if alike else ("", "")


def by_keys(
    students: Iterable[Student], fields: Sequence[str] = OF_SYSTEMS
) -> dict[tuple[str, str], Student]:
    """Return (field, its folded value) -> student: whose work, line or entry something is."""
    pairs = ((field, student) for student in students for field in fields)
    return {(x, folded(key)): student for x, student in pairs if (key := getattr(student, x))}


def folded(name: str) -> str:
    """Return an id in small letters, an accented one written in one way."""
    return unicodedata.normalize("NFC", name).casefold()


def _names(student: Student) -> list[str]:
    """Return what somebody may be called by mistake: an id or address up to its @, a name."""
    ids = [name.partition("@")[0] for name in (student.id, student.email)]
    return [name for name in map(str.strip, [*ids, *student.spellings]) if name]
