"""Read a file that a student handed in, if it is a regular file."""

import os
import stat
from pathlib import Path


def read_plain(path: Path, most: int) -> bytes | None:
    """Read at most `most` bytes of a file; None if it is missing, a link or not a regular file.

    Neither the file nor its folder may be a link, and a pipe is not waited for.
    """
    if path.parent.is_symlink():
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.pread(descriptor, most, 0) if is_plain else None
    finally:
        os.close(descriptor)
