"""Read what a student handed in, if it is a file at all."""

import os
import stat
from pathlib import Path


def read_plain(path: Path, most: int) -> bytes | None:
    """Read at most `most` bytes of a file; None where it is missing, a link, or no plain file.

    A link is not followed, whether it is the file or its folder, and a pipe is not waited for.
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
