"""Private folders of tasks on disk, where a task cannot have a root of its own.

Whoever makes one holds it by a lock. If that process is killed, the lock is gone and the folder
stays: the next one removes it.
"""

import contextlib
import fcntl
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.sandbox.walls.private_folder import remove

PREFIX: Final = "transformer-course-task-"  # nobody else names a folder so
NEW_SECONDS: Final = 60.0  # a folder that is younger may be about to be locked


@dataclass(frozen=True)
class Folder:
    """A task's folder; `lock` is a descriptor of the process that made it."""

    path: Path
    lock: int

    def remove(self) -> None:
        """Remove it with all that is in it."""
        remove(self.path)
        os.close(self.lock)


class Folders:
    """Makes folders in one place, and first removes those that others left there.

    Args:
        place: where; the system's folder for what is temporary, if None.

    """

    def __init__(self, place: Path | None) -> None:
        self._place = place or Path(tempfile.gettempdir())
        self._swept = False

    def new(self, user: int, group: int) -> Folder:
        """Make an empty folder that belongs to a user and a group."""
        if not self._swept:
            remove_left_over(self._place)
            self._swept = True
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self._place))
        lock = os.open(path, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.chown(path, user, group)
        return Folder(path, lock)


def remove_left_over(place: Path) -> None:
    """Remove the folders whose makers are gone."""
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # it is locked, or a link, or another user's
            _remove_if_left(folder)


def _remove_if_left(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if abs(time.time() - os.fstat(lock).st_mtime) > NEW_SECONDS:  # the clock may be set back
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(folder)
    finally:
        os.close(lock)
