"""Read a class list, whoever wrote it, and bring several together.

An instructor may have written it, or Canvas, Moodle, GitHub Classroom.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec.structs import asdict, replace

from grader.course.roster_file import OF_SYSTEMS, OWN, Student, folded
from grader.course.safe_text import UNSEEN, line
from grader.course.wording import first_lines
from grader.errors import PROGRAM, CourseError
from grader.person_table import Table, plain_title, read_table

LONGEST: Final = 120  # characters of an id; nbgrader's tables take 128
MOST_BYTES: Final = 255  # of them, for a folder's name; a letter may take four

# What columns may be called, small letters and single spaces. Canvas's own gradebook is special:
# there "Student" is a name and "ID" is Canvas's.
COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "id": ("student id", "student", "id", "user", "username", "login"),
    "first_name": ("first name", "given name", "firstname"),
    "last_name": ("last name", "surname", "family name", "lastname"),
    "name": ("name", "full name"),
    "email": ("email", "email address", "e mail", "mail"),
    "canvas_user_id": ("canvas user id", "canvas id", "lms user id"),
    "sis_user_id": ("sis id", "sis user id"),
    "sis_login_id": ("sis login id",),
    "moodle_id_number": ("moodle id number", "moodle id", "id number"),
    "moodle_participant": ("moodle participant", "participant", "identifier"),
    "github_username": ("github username", "github name", "github"),
}
_CANVAS: Final = COLUMNS | {"id": (), "name": ("student",), "canvas_user_id": ("id",)}
_CLASSROOM: Final = COLUMNS | {
    "id": ("github username",), "sis_login_id": ("identifier",), "moodle_participant": ()
}  # fmt: skip
TEST_STUDENT: Final = "student, test"  # Canvas makes one for Student View
_DECIMALS: Final = re.compile(r"^(\d+)[.,]0+$")  # a spreadsheet's: 4001.0 is 4001
_ROUNDED: Final = re.compile(r"\d+([.,]\d+)?E\+\d+", re.IGNORECASE)
# Where a roster has no column of ids, the first of these that a row has is the student's id.
_INSTEAD: Final = (
    "sis_login_id", "sis_user_id", "moodle_id_number", "email", "canvas_user_id",
    "github_username",
)  # fmt: skip


@dataclass(frozen=True)
class ClassList:
    """What a class list says.

    Attributes:
        students: each once.
        notes: sentences on lines that are no student's, or somebody's second one.
        has_ids: whether it has a column of our own ids, and not of a system's alone.

    """

    students: list[Student]
    notes: list[str]
    has_ids: bool


def read_class(path: Path) -> ClassList:
    """Read a class list: a CSV file with a line of column names.

    Raises:
        CourseError: it cannot be read, or lines in it are wrong; the message names each.

    """
    table = read_table(path)
    columns = _columns(path, table)
    found: dict[int, Student] = {}  # by their first lines
    lines: dict[str, int] = {}
    faults, notes = [], []
    for number, cells in table.entries(columns):
        if not any(cells.values()) or cells.get("name") == "Points Possible":
            continue
        if columns is _CANVAS and folded(cells.get("name", "")) == TEST_STUDENT:
            notes.append(f"line {number} is Canvas's Test Student, who is not in the class.")
            continue
        student = _student(cells)
        faults += [f"line {number}: {fault}" for fault in _faults(student)]
        before = lines.setdefault(student.id, number) if student.id else number
        one = _one_of(found.get(before, student), student)
        if before == number or one is None:
            found[number] = student
        else:
            found[before] = one
            notes.append(
                f"line {number} is line {before} once more: {line(student.id)} counts once."
            )
    if faults := [*faults, *_shared(found.values(), lines=list(found))]:
        listed = "\n  ".join(first_lines(faults, 10))
        raise CourseError(f"{path} was not taken; fix it and run the same command:\n  {listed}")
    return ClassList(
        list(found.values()), notes, "id" in table.places(columns) and columns is not _CLASSROOM
    )


def _columns(path: Path, table: Table) -> Mapping[str, Sequence[str]]:
    """Return what the list calls its columns: two systems have words of their own."""
    titles = {plain_title(title) for title in table.titles}
    columns = _CANVAS if {"student", "id", "section"} <= titles else COLUMNS
    columns = _CLASSROOM if {"identifier", "github username"} <= titles else columns
    if not {"id", *_INSTEAD} & table.places(columns).keys():
        raise CourseError(
            f"{path} has no column with ids. Call one of them student_id, email, canvas_user_id, "
            f"sis_login_id or moodle_id_number; it has: {', '.join(map(line, table.titles))}."
        )
    return columns


def _student(found: Mapping[str, str]) -> Student:
    found = {x: v if x == "email" else _DECIMALS.sub(r"\1", v) for x, v in found.items()}
    numbers: dict[str, Any] = dict(found)
    numbers["moodle_participant"] = found.get("moodle_participant", "").rpartition(" ")[2]
    own = next((found[name] for name in ("id", *_INSTEAD) if found.get(name)), "")
    return Student(**numbers | {"id": own})


def _faults(student: Student) -> Iterator[str]:
    if not student.id:
        yield "it has no id"
    for field in OF_SYSTEMS:
        if _ROUNDED.fullmatch(value := getattr(student, field)):
            yield (
                f"the {field.replace('_', ' ')} {value} was rounded by a spreadsheet: take the "
                "list from the system again, and open it as text"
            )
    if student.id and (len(student.id) > LONGEST or not is_folder_name(student.id)):
        yield (
            f"the id {line(student.id)} cannot name a folder: use up to {LONGEST} letters, digits "
            f"and signs ({MOST_BYTES} bytes), but none of / \\ : * ? [ ] < > | and no dot or space "
            "at either end"
        )


def is_folder_name(name: str) -> bool:
    """Return whether an id can name a folder, and means nothing else in a path or a pattern."""
    odd = any(unicodedata.category(c) in UNSEEN for c in name) or len(name.encode()) > MOST_BYTES
    return not (odd or name[0] in ". " or name[-1] in ". " or set(name) & set('/\\:*?[]"<>|'))


def _shared(
    students: Iterable[Student], fields: Sequence[str] = OWN, lines: Sequence[int] = ()
) -> Iterator[str]:
    """Yield a sentence for each id or address that two students have, with the lines they are on.

    Args:
        students: all of them.
        fields: what no two may share.
        lines: in the students' order, if they are of one file.

    """
    listed = list(students)
    for field in fields:
        seen: dict[str, int] = {}
        for place, student in enumerate(listed):
            if value := getattr(student, field):
                before = seen.setdefault(folded(value), place)
                where = f"lines {lines[before]} and {lines[place]}: " if lines else ""
                if before != place:
                    yield f"{where}{field.replace('_', ' ')} {line(value)} belongs to two students"


def _one_of(first: Student, second: Student) -> Student | None:
    """Return the student whom two entries with one id are; None if they say different things."""
    pairs = zip(asdict(first).values(), asdict(second).values(), strict=True)
    if any(folded(str(one)) != folded(str(other)) for one, other in pairs if one and other):
        return None
    return _joined(second, first)


def _joined(older: Student, newer: Student) -> Student:
    """Return a student as two entries say; of what both say the newer counts."""
    told = {name: value for name, value in asdict(newer).items() if value}
    return replace(older, **told)


def merged(*rosters: Iterable[Student], own: Sequence[str] = OWN) -> list[Student]:
    """Return the students of several rosters; a later one adds to and corrects an earlier one.

    Args:
        rosters: of which students with equal ids, letter by letter, are one.
        own: what no two may share, large and small letters taken for the same.

    Raises:
        CourseError: together, two students share what only one can have.

    """
    found: dict[str, Student] = {}
    for student in (student for roster in rosters for student in roster):
        found[student.id] = _joined(found.get(student.id, student), student)
    if faults := list(_shared(found.values(), own)):
        listed = "\n  ".join(first_lines(faults, 10))
        raise CourseError(
            "The roster does not fit the students who are known already (in the gradebook and in "
            f"lms/roster.json):\n  {listed}\nIds that differ only by case count as one. Correct "
            "the list; or, if an earlier one was wrong, say which id is whose with "
            f"{PROGRAM} roster --rename OLD=NEW, or take out who left with roster --out ID. Then "
            "run the same command."
        )
    return list(found.values())
