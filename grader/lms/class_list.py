"""Read a class list, whoever wrote it: an instructor, Canvas (its gradebook), Moodle."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from grader.course.safe_text import UNSEEN, line
from grader.errors import CourseError
from grader.lms.roster import Student, shared
from grader.person_table import Table, read_table

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
}
_CANVAS: Final = COLUMNS | {"id": (), "name": ("student",), "canvas_user_id": ("id",)}
# Where a roster has no column of ids, the first of these that a row has is the student's id.
_INSTEAD: Final = (
    "sis_login_id", "sis_user_id", "moodle_id_number", "email", "canvas_user_id",
)  # fmt: skip


def read_roster(path: Path) -> list[Student]:
    """Read a class list: a CSV file with a line of column names.

    Raises:
        CourseError: it cannot be read, or lines in it are wrong; the message names each.

    """
    table = read_table(path)
    students, faults = [], []
    for number, found in table.entries(_columns(path, table)):
        if not any(found.values()) or found.get("name") == "Points Possible":
            continue
        student = _student(found)
        faults += [f"line {number}: {fault}" for fault in _faults(student)]
        students.append(student)
    _require_none(path, [*faults, *shared(students)])
    return students


def _columns(path: Path, table: Table) -> Mapping[str, Sequence[str]]:
    """Return what the list calls its columns: Canvas's gradebook has words of its own."""
    is_canvas = len(table.places({name: (name,) for name in ("student", "id", "section")})) == 3
    columns = _CANVAS if is_canvas else COLUMNS
    if not {"id", *_INSTEAD} & table.places(columns).keys():
        raise CourseError(
            f"{path} has no column with ids. Call one of them student_id, email, canvas_user_id, "
            f"sis_login_id or moodle_id_number; it has: {', '.join(map(line, table.titles))}."
        )
    return columns


def _student(found: Mapping[str, str]) -> Student:
    numbers = dict(found)
    numbers["moodle_participant"] = found.get("moodle_participant", "").rpartition(" ")[2]
    own = next((found[name] for name in ("id", *_INSTEAD) if found.get(name)), "")
    return Student(**numbers | {"id": own})


def _faults(student: Student) -> Iterator[str]:
    if not student.id:
        yield "it has no id"
    elif len(student.id) > LONGEST or not _is_folder_name(student.id):
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


def _is_folder_name(name: str) -> bool:
    """Return whether an id can name a folder, and means nothing else in a path or a pattern."""
    odd = any(unicodedata.category(c) in UNSEEN for c in name) or len(name.encode()) > MOST_BYTES
    return not (odd or name[0] in ". " or name[-1] in ". " or set(name) & set('/\\:*?[]"<>|'))
