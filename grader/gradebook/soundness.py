"""Values that no program writes: a SQLite file takes text for a number, from whoever edits it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from nbgrader.api import Base, Gradebook
from sqlalchemy import Column, DateTime, Float, Interval, Table, text

from grader.errors import CourseError

# A condition on values that are not of a column's kind, by what SQLite says of them.
NO_NUMBER: Final = "typeof({0}) NOT IN ('real', 'integer') OR abs({0}) > 1e300"
NO_TEXT: Final = "typeof({0}) != 'text'"
MOST_SHOWN: Final = 40  # characters of a value


def verify_sound(gradebook: Gradebook) -> None:
    """Raise CourseError if a gradebook's file holds text for a number, or no time for a time."""
    if gradebook.db.get_bind().dialect.name == "sqlite" and (odd := odd_value(gradebook.db)):
        gradebook.close()
        raise CourseError(
            f"The gradebook holds what no program writes: {odd}. Correct it by hand, as it was "
            "changed, then run the same command; copies from before are in gradebook-backups/."
        )


def odd_value(db: Any) -> str:
    """Return where a SQLite gradebook holds what cannot be there, fit for printing; "" if nowhere.

    Args:
        db: a session or connection.

    """
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            for value in _odd(db, table, column):
                shown = ascii(value)[:MOST_SHOWN]
                return f"{shown} in column {column.name} of table {table.name}"
    return ""


def _odd(db: Any, table: Table, column: "Column[Any]") -> Iterator[object]:
    """Yield a column's values that are not of its kind."""
    kind, there = column.type, f'"{column.name}" FROM "{table.name}" WHERE "{column.name}"'
    if isinstance(kind, DateTime | Interval):
        found = db.execute(text(f"SELECT DISTINCT {there} IS NOT NULL")).scalars()
        yield from (value for value in found if not _is_time(value))
    elif isinstance(kind, Float) or kind.python_type is str:
        odd = (NO_NUMBER if isinstance(kind, Float) else NO_TEXT).format(f'"{column.name}"')
        yield from db.execute(text(f"SELECT {there} IS NOT NULL AND ({odd}) LIMIT 1")).scalars()


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return False
