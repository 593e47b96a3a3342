"""The time that lies beside a hand-in, read with care: students can write it.

nbgrader's own reading guesses at any text: it takes ``Q`` for a time zone, and opens a file if the
zone's name is a path.
"""

import re
from datetime import UTC, datetime
from typing import Final

from nbgrader.utils import parse_utc

LONGEST: Final = 64  # characters; a longer text is no time
_FORM: Final = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?"
    r"( (UTC|[A-Z][A-Za-z_]+(/[A-Za-z_]+)*)|Z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)


def as_time(text: str) -> datetime | None:
    """Read a time as nbgrader or this course writes it; None if it is anything else."""
    if len(text) > LONGEST or not _FORM.fullmatch(text):
        return None
    try:
        told: datetime = parse_utc(text).replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return told if 1970 <= told.year < 9999 else None
