"""Read a file that a student handed in, if it is a regular file."""

import os
import stat
from pathlib import Path
from typing import Final

NO_LINK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def read_plain(path: Path, most: int) -> bytes | None:
    """Read at most `most` bytes of a file; None if it is missing, a link or not a regular file.

    Neither the file nor its folder may be a link, and a pipe is not waited for. The file is looked
    up in the folder that was opened: whose it is may put another one in its place meanwhile.
    """
    try:
        folder = os.open(path.parent, NO_LINK | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        return _read_in(folder, path.name, most)
    except OSError:
        return None
    finally:
        os.close(folder)


def _read_in(folder: int, name: str, most: int) -> bytes | None:
    descriptor = os.open(name, NO_LINK, dir_fd=folder)
    try:
        is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.pread(descriptor, most, 0) if is_plain else None
    finally:
        os.close(descriptor)
