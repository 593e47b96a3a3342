"""Copies of the gradebook, made before a run writes into it; the last ten are kept."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grader.errors import CourseError, help_with
from grader.gradebook.address import sqlite_file
from grader.gradebook.snapshots import snapshot

FOLDER: Final = "gradebook-backups"
COPIES: Final = "gradebook-*.db"
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
            f"written. {help_with(str(error))}, then run the same command."
        ) from None
    return copy


def verify_not_lost(url: str, folder: Path) -> None:
    """Raise CourseError if a gradebook of which there are copies is gone, or has become empty.

    A new one would take its place unseen, and the copies of that would drive the good ones out.
    """
    file, copies = sqlite_file(url), sorted((folder / FOLDER).glob(COPIES))
    if file is not None and copies and (not file.exists() or file.stat().st_size == 0):
        raise CourseError(
            f"The gradebook {file} is {'empty' if file.exists() else 'gone'}. Put its newest copy "
            f"in its place (cp '{copies[-1]}' '{file}'), then run the same command. To begin a new "
            f"one, move {folder / FOLDER} away."
        )


def _copy(url: str, home: Path) -> Path | None:
    """Copy whole or not at all: a half-written copy keeps another name."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")
    half, whole = home / f".{stamp}.part", home / f"gradebook-{stamp}.db"
    if not snapshot(url, half):
        return None
    half.replace(whole)
    return whole


def _forget(home: Path) -> None:
    old = sorted(home.glob(COPIES))[:-KEPT]
    for path in [*old, *home.glob(".*.part")]:
        path.unlink(missing_ok=True)
