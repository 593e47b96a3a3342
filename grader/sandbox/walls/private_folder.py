"""A task's private folder on disk, where no mount namespace gives it one in memory.

The task may nest folders deeper than paths or calls can reach, and lock them.
"""

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

from grader.sandbox.walls.limits import Limits

DEEPEST: Final = 64  # folders in one another; the longest path has room for 2,000
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def too_large(folder: Path, limits: Limits) -> bool:
    """Return whether a folder exceeds its bytes or entries (links are not followed).

    So does one in which something is too deep or locked to be counted.
    """
    size = entries = 0
    waiting = [(str(folder), 0)]
    while waiting:
        place, depth = waiting.pop()
        try:
            with os.scandir(place) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except PermissionError:
            return True
        except OSError:  # it has gone meanwhile
            continue
        if entries > limits.folder_entries or size > limits.folder_bytes or depth > DEEPEST:
            return True
    return False


def remove(folder: Path) -> None:
    """Remove a folder whose task is over, even if it locked it or removed it first.

    Folders in it are moved up and emptied one after another: nothing here grows with their depth.
    """
    with contextlib.suppress(OSError):
        folder.chmod(stat.S_IRWXU)
        here = os.open(folder, FOLDER)
        try:
            while names := os.listdir(here):  # noqa: PTH208 (by its descriptor)
                for name in names:
                    _take_apart(name, here)
        finally:
            os.close(here)
        folder.rmdir()


def _take_apart(name: str, here: int) -> None:
    """Remove a file, or a folder whose own folders are moved beside it."""
    if not _is_folder(name, here):
        os.unlink(name, dir_fd=here)
        return
    os.chmod(name, stat.S_IRWXU, dir_fd=here)
    inside = os.open(name, FOLDER, dir_fd=here)
    try:
        for inner in os.listdir(inside):  # noqa: PTH208
            if _is_folder(inner, inside):
                os.chmod(inner, stat.S_IRWXU, dir_fd=inside)  # or it cannot be moved
                os.rename(inner, os.urandom(16).hex(), src_dir_fd=inside, dst_dir_fd=here)
            else:
                os.unlink(inner, dir_fd=inside)
    finally:
        os.close(inside)
    os.rmdir(name, dir_fd=here)


def _is_folder(name: str, place: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode)
