"""A copy of a gradebook as it is at one moment, in a SQLite file, also while others write."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from grader.gradebook.address import file_url, sqlite_file
from grader.gradebook.rows import copy_rows
from grader.gradebook.server import connection, has_tables

PATIENCE: Final = 5.0  # seconds to wait for a program that holds a SQLite file


def snapshot(url: str, file: Path) -> bool:
    """Copy a gradebook into a new file, readable by its owner alone.

    Returns:
        Whether there was one: neither a missing file nor an empty database is copied.

    Raises:
        CourseError: the server refuses.
        OSError, sqlite3.Error: a file does.

    """
    source = sqlite_file(url)
    return _of_server(url, file) if source is None else _of_file(source, file)


def _of_file(source: Path, file: Path) -> bool:
    if not source.is_file():
        return False
    file.touch(mode=0o600)
    with closing(sqlite3.connect(source, timeout=PATIENCE)) as gradebook:
        gradebook.execute("VACUUM INTO ?", (str(file),))
    return True


def _of_server(url: str, file: Path) -> bool:
    """Read in one transaction, whose sight of the rows does not change while others write."""
    with connection(url, isolation_level="REPEATABLE READ") as source:
        if not has_tables(source):
            return False
        file.touch(mode=0o600)
        with connection(file_url(file)) as target:
            copy_rows(source, target)
            target.commit()
    return True
