"""Read or copy a file that a student handed in, if it is a regular file."""

import os
import stat
from pathlib import Path
from typing import Final

NO_LINK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
PIECE: Final = 1 << 20  # bytes that a copy holds in memory


def read_plain(path: Path, most: int) -> bytes | None:
    """Read at most `most` bytes of a file; None if it is missing, a link or not a regular file.

    Neither the file nor its folder may be a link, and a pipe is not waited for. The file is looked
    up in the folder that was opened: whose it is may put another one in its place meanwhile.
    """
    try:
        descriptor = _open(path)
    except OSError:
        return None
    try:
        return os.pread(descriptor, most, 0)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def copy_plain(path: Path, to: Path, most: int) -> int | None:
    """Copy a file in pieces; return its size, or None where `read_plain` would.

    One that is larger than `most` is not copied. Of one that grows meanwhile as much is copied as
    there was at first.

    Raises:
        OSError: it cannot be written, or its disk fails.

    """
    try:
        descriptor = _open(path)
    except OSError:
        return None
    try:
        size = os.fstat(descriptor).st_size
        if size <= most:
            with to.open("wb") as target:
                for start in range(0, size, PIECE):
                    target.write(os.pread(descriptor, min(PIECE, size - start), start))
        return size
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    """Open a regular file in a folder; raise OSError if either is anything else."""
    folder = os.open(path.parent, NO_LINK | os.O_DIRECTORY)
    try:
        descriptor = os.open(path.name, NO_LINK, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path.name} is no regular file")
    return descriptor
