"""Every row of a gradebook, copied from one database into another as it is.

nbgrader makes all ids itself, in Python, so no table has a counter that would have to be set.
"""

from collections.abc import Iterator
from typing import Any, Final

from nbgrader.api import Base
from sqlalchemy import Column, Connection, MetaData, String, Table, insert, inspect, select

from grader.errors import CourseError

VERSION: Final = Table(
    "alembic_version", MetaData(), Column("version_num", String(32), nullable=False)
)
MADE_BY_NBGRADER: Final = ("alembic_version", "course")  # with a row each in an empty gradebook
CHUNK: Final = 1000

Rows = list[tuple[Any, ...]]


def tables() -> list[Table]:
    """Return the gradebook's tables, each after those that its rows refer to."""
    return [VERSION, *Base.metadata.sorted_tables]


def make_tables(at: Connection) -> None:
    """Make all tables, without a row."""
    VERSION.create(at, checkfirst=True)
    Base.metadata.create_all(at)


def content(at: Connection, table: Table) -> Rows:
    """Return a table's rows in an order that is no database's own."""
    return sorted((tuple(row) for row in at.execute(select(table))), key=repr)


def verify_empty(at: Connection, where: str) -> None:
    """Raise CourseError if a database holds anything but an empty gradebook."""
    there = set(inspect(at).get_table_names())
    ours = [table for table in tables() if table.name in there]
    held = sorted(there - {table.name for table in ours})
    held += [t.name for t in ours if len(content(at, t)) > (t.name in MADE_BY_NBGRADER)]
    if held:
        raise CourseError(
            f"{where} is not empty ({', '.join(held[:3])}), so nothing was moved. Name an empty "
            "database or a new file, then run the same command."
        )


def copy_rows(source: Connection, target: Connection) -> dict[str, int]:
    """Copy all rows into empty tables and read them back; return table -> how many rows.

    Both must be in a transaction: the source's, so that it stands still; the target's, so that
    nothing is left in it if this fails.

    Raises:
        CourseError: what is read back is not what was there.

    """
    make_tables(target)
    for table in reversed(tables()):
        target.execute(table.delete())
    counts = {}
    for table in tables():
        rows = content(source, table)
        for part in _chunks(rows, table):
            target.execute(insert(table), part)
        if content(target, table) != rows:
            raise CourseError(
                f"The rows of {table.name} are not the same after the copy, so nothing was kept. "
                "Nothing was changed where they come from."
            )
        counts[table.name] = len(rows)
    return counts


def _chunks(rows: Rows, table: Table) -> Iterator[list[dict[str, Any]]]:
    names = [column.name for column in table.columns]
    for first in range(0, len(rows), CHUNK):
        yield [dict(zip(names, row, strict=True)) for row in rows[first : first + CHUNK]]
