"""Errors that the user can fix: shown as a message, never as a traceback."""

import difflib
from collections.abc import Collection
from typing import Final

PROGRAM: Final = ".venv/bin/python -m grader"  # what messages tell people to type
MOST_SHOWN: Final = 8
NONE: Final = "none yet"
# What SQLite says of a gradebook's file -> what helps.
DAMAGED: Final = (
    "Move it away, with its -journal and -wal if they are there (a copy would take them over), and "
    "put the newest copy of gradebook-backups/ in its place"
)
HELPS: Final = {
    "not a database": DAMAGED,
    "malformed": DAMAGED,
    "no such": DAMAGED,
    "is full": "Make room",
    "No space": "Make room",
    "readonly": "Check that you may write it, and into its folder",
}


class CourseError(Exception):
    """An error in the course or the request; the message says what is wrong and what to do."""


class UsageError(CourseError):
    """A command that names what there is not; the command line ends with status 2."""


def verify_known(what: str, name: str, known: Collection[str]) -> None:
    """Raise UsageError if `name` is not known; the message has the nearest name, or all."""
    if name not in known:
        raise UsageError(f"There is no {what} {name!r}. {advice(name, known)}")


def nearest(name: str, known: Collection[str], likeness: float = 0.5) -> str:
    """Return a question with the known name that is nearest to a mistyped one; "" if none is."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=likeness)
    return f"Did you mean {printable(near[0])}?" if near else ""


def advice(name: str, known: Collection[str]) -> str:
    """Return a sentence with the known name that is nearest to a mistyped one, or with all."""
    if question := nearest(name, known):
        return question
    shown = ", ".join(map(printable, list(known)[:MOST_SHOWN]))
    return f"There are: {shown}, ..." if len(known) > MOST_SHOWN else f"There are: {shown or NONE}."


def printable(name: str) -> str:
    """Return a name for the terminal, which obeys characters that cannot be printed."""
    return name if name.isprintable() else ascii(name)


def help_with(reason: str) -> str:
    """Return what helps where a gradebook's file refuses, by what SQLite says."""
    for words, helps in HELPS.items():
        if words in reason:
            return helps
    return "Close the program that holds it and check that you may write there"
