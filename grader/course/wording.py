"""How counts and spans of time are written, on pages, in tables and on the terminal."""

from collections.abc import Sequence
from datetime import timedelta


def plural(count: int, word: str) -> str:
    """Write "1 student", "2 students"."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def span(length: timedelta) -> str:
    """Write a span of time in its largest units: "2 days 3 hours", "14 minutes"."""
    minutes = max(1, round(length.total_seconds() / 60))
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    units = [(days, "day"), (hours, "hour"), (rest if not days else 0, "minute")]
    return " ".join(plural(count, word) for count, word in units if count)


def first(items: Sequence[str], most: int) -> str:
    """Write the first of a list and how many are left out: "ada, ben, and 3 more"."""
    more = f", and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def first_lines(lines: Sequence[str], most: int = 3) -> list[str]:
    """Return the first of some lines that tell alike, and how many there are more."""
    more = len(lines) - most
    return [*lines[:most], *([f"... and {more:,} more like this"] if more > 0 else [])]
