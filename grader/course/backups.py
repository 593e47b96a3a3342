"""Copies of the gradebook, made before a run writes into it; the last ten are kept."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grader.errors import CourseError
from grader.gradebook.address import sqlite_file
from grader.gradebook.snapshots import snapshot

FOLDER: Final = "gradebook-backups"
KEPT: Final = 10


def back_up(url: str, folder: Path) -> Path | None:
    """Copy a gradebook, wherever it is, into gradebook-backups/, readable by its owner alone.

    Args:
        url: the gradebook's.
        folder: the course's.

    Returns:
        The copy, a SQLite file; None if there is no gradebook yet.

    Raises:
        CourseError: no copy could be made; nothing was written to the gradebook then.

    """
    source = sqlite_file(url)
    if source is not None and not source.is_file():
        return None
    home = folder / FOLDER
    try:
        home.mkdir(mode=0o700, exist_ok=True)
        copy = _copy(url, home)
        _forget(home)
    except (OSError, sqlite3.Error) as error:
        raise CourseError(
            f"The gradebook could not be copied to {home} before writing ({error}), so nothing was "
            "written. Make room or close the program that holds it, then run the same command."
        ) from None
    return copy


def _copy(url: str, home: Path) -> Path | None:
    """Copy whole or not at all: a half-written copy keeps another name."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")
    half, whole = home / f".{stamp}.part", home / f"gradebook-{stamp}.db"
    if not snapshot(url, half):
        return None
    half.replace(whole)
    return whole


def _forget(home: Path) -> None:
    old = sorted(home.glob("gradebook-*.db"))[:-KEPT]
    for path in [*old, *home.glob(".*.part")]:
        path.unlink(missing_ok=True)
