"""First passwords: a table for the instructor to hand out, kept from everyone else."""

import csv
import io
import os
import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from grader.course.private import write_private
from grader.errors import verify_known

FILE: Final = "hub-passwords.csv"
HEAD: Final = ("student_id", "first_password")
BYTES: Final = 9  # 12 letters, digits, - and _


def read_passwords(file: Path) -> dict[str, str]:
    """Read first passwords by name; none if there is no table yet."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    rows = csv.reader(io.StringIO(text))
    return {row[0]: row[1] for row in rows if len(row) == len(HEAD) and tuple(row) != HEAD}


def add_passwords(file: Path, names: Iterable[str]) -> int:
    """Give each name that has none a first password; return how many were new.

    The table keeps its owner: the instructor's account, where root writes it.
    """
    known = read_passwords(file)
    new = {name: secrets.token_urlsafe(BYTES) for name in sorted(set(names) - known.keys())}
    if not new:
        return 0
    _write(file, known | new)
    return len(new)


def renew_password(file: Path, users: Path, name: str) -> str:
    """Give somebody who forgot theirs a first password again; return it.

    Args:
        file: the table of first passwords.
        users: the hub's database, which has the chosen ones.
        name: whose.

    Raises:
        CourseError: the table has no such name.

    """
    known = read_passwords(file)
    verify_known("student with a first password", name, known)
    known[name] = secrets.token_urlsafe(BYTES)
    _write(file, known)
    with closing(sqlite3.connect(users)) as database, suppress(sqlite3.OperationalError), database:
        database.execute("DELETE FROM users_info WHERE username = ?", [name])  # none if none chose
    return known[name]


def _write(file: Path, passwords: Mapping[str, str]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([HEAD, *sorted(passwords.items())])
    write_private(file, text.getvalue())
    owner = file.parent.stat()
    os.chown(file, owner.st_uid, owner.st_gid)
