"""Move a gradebook to another database: to a server, and back."""

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import text

from grader.gradebook.address import file_url, is_on_server, shown, sqlite_file
from grader.gradebook.rows import copy_rows, verify_empty
from grader.gradebook.server import COUNTING, MAKING, connection


def move(copy: Path, target: str) -> Mapping[str, int]:
    """Copy a gradebook's rows into an empty database; what is there stays as it is.

    Args:
        copy: a snapshot of the gradebook that is to be moved.
        target: the other database's address.

    Returns:
        Table -> how many rows.

    Raises:
        CourseError: the target is not empty, or refuses; nothing is left in it then.

    """
    if (file := sqlite_file(target)) is not None and not file.exists():
        file.touch(mode=0o600)
    with connection(file_url(copy)) as rows, connection(target) as there:
        if is_on_server(target):
            there.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MAKING})
        verify_empty(there, shown(target))
        counts = copy_rows(rows, there)
        if is_on_server(target):
            there.execute(COUNTING)
        there.commit()
    return counts
