"""Read a class list, whoever wrote it: an instructor, Canvas, Moodle, GitHub Classroom."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader.course.roster_file import folded
from grader.course.safe_text import UNSEEN, line
from grader.errors import CourseError
from grader.lms.roster import OF_SYSTEMS, Student, one_of, shared
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
        one = one_of(found.get(before, student), student)
        if before == number or one is None:
            found[number] = student
        else:
            found[before] = one
            notes.append(
                f"line {number} is line {before} once more: {line(student.id)} counts once."
            )
    _require_none(path, [*faults, *shared(found.values(), lines=list(found))])
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


def _require_none(path: Path, faults: list[str]) -> None:
    if faults:
        more = f"\n  and {len(faults) - 10} more" if len(faults) > 10 else ""
        listed = "\n  ".join(faults[:10])
        raise CourseError(
            f"{path} was not taken; fix it and run the same command:\n  {listed}{more}"
        )


def is_folder_name(name: str) -> bool:
    """Return whether an id can name a folder, and means nothing else in a path or a pattern."""
    odd = any(unicodedata.category(c) in UNSEEN for c in name) or len(name.encode()) > MOST_BYTES
    return not (odd or name[0] in ". " or name[-1] in ". " or set(name) & set('/\\:*?[]"<>|'))
