"""Copies of the gradebook, made before a run writes into it; the last ten are kept."""

import sqlite3
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from grader.errors import CourseError, help_with
from grader.gradebook.address import sqlite_file
from grader.gradebook.snapshots import snapshot

FOLDER: Final = "gradebook-backups"
COPIES: Final = "gradebook-*.db"
KEPT: Final = 10
STAMP: Final = "%Y-%m-%dT%H-%M-%S.%fZ"
OF_A_TRANSACTION: Final = ("-journal", "-wal", "-shm")  # beside a gradebook: how its name ends


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
        rests = [f"{file}{end}" for end in OF_A_TRANSACTION if Path(f"{file}{end}").exists()]
        remove = (
            f"rm {' '.join(map(repr, rests))}; " if rests else ""
        )  # or the copy takes them over
        raise CourseError(
            f"The gradebook {file} is {'empty' if file.exists() else 'gone'}. Put its newest copy "
            f"in its place ({remove}cp '{copies[-1]}' '{file}'), then run the same command. To "
            f"begin a new one, move {folder / FOLDER} away."
        )


def _copy(url: str, home: Path) -> Path | None:
    """Copy whole or not at all: a half-written copy keeps another name."""
    stamp = _next(home).strftime(STAMP)
    half, whole = home / f".{stamp}.part", home / f"gradebook-{stamp}.db"
    if not snapshot(url, half):
        return None
    half.replace(whole)
    return whole


def _next(home: Path) -> datetime:
    """Return now; if the clock was set back, what follows the newest copy: names tell the order."""
    times = [datetime.now(UTC)]
    for copy in home.glob(COPIES):
        with suppress(ValueError):  # it is no copy of ours
            made = datetime.strptime(copy.name, COPIES.replace("*", STAMP)).replace(tzinfo=UTC)
            times.append(made + timedelta(microseconds=1))
    return max(times)


def _forget(home: Path) -> None:
    old = sorted(home.glob(COPIES))[:-KEPT]
    for path in [*old, *home.glob(".*.part")]:
        path.unlink(missing_ok=True)
