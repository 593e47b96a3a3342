"""Read or copy a file that a student handed in, if it is a regular file."""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from utils.text_files import as_text

NO_LINK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
PIECE: Final = 1 << 20  # bytes that a copy holds in memory
# What opening says of a file that is not there, or lies in what is no folder or behind a link.
ABSENT: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
RIGHT: Final = "Give yourself the right to read it"
HELPS: Final[Mapping[int | None, str]] = {
    errno.EACCES: RIGHT,
    errno.EPERM: RIGHT,
    errno.EMFILE: "Allow more open files (ulimit -n 1024)",
    errno.ENFILE: "Close other programs",
    errno.ENOMEM: "Close other programs",
}
OF_A_DISK: Final = "Check the disk, or the network folder, that it is on"


class Unreadable(OSError):
    """A file that may be all right and cannot be read: whoever handed it in is not to blame."""

    @property
    def helps(self) -> str:
        """What helps, as a sentence without its end."""
        return HELPS.get(self.errno, OF_A_DISK)

    def __str__(self) -> str:
        """Return which file it is, why, and what helps."""
        return f"{self.filename} cannot be read ({self.strerror}). {self.helps}"


def read_plain(path: Path, most: int) -> bytes | None:
    """Read at most `most` bytes of a file; None if it is missing, a link or not a regular file.

    Neither the file nor its folder may be a link, and a pipe is not waited for. The file is looked
    up in the folder that was opened: whose it is may put another one in its place meanwhile.

    Raises:
        Unreadable: it is there, and this machine or its rights are in the way.

    """
    with opened(path) as descriptor:
        if descriptor is None:
            return None
        with _blamed_on(path):
            return os.pread(descriptor, most, 0)


def read_plain_text(path: Path, most: int) -> str:
    """Read as `read_plain` does, as text; "" where that returns None, and a sign for what is none.

    Raises:
        Unreadable: as `read_plain`.

    """
    return as_text(read_plain(path, most) or b"", "replace")


def copy_plain(path: Path, to: Path, most: int) -> int | None:
    """Copy a file in pieces; return its size, or None where `read_plain` would.

    One that is larger than `most` is not copied. Of one that grows meanwhile as much is copied as
    there was at first.

    Raises:
        Unreadable: as `read_plain`; the copy may be there in part.
        OSError: the copy cannot be written.

    """
    with opened(path) as descriptor:
        if descriptor is None:
            return None
        with _blamed_on(path):
            size = os.fstat(descriptor).st_size
        if size <= most:
            with to.open("wb") as target:
                for start in range(0, size, PIECE):
                    target.write(piece(path, descriptor, start, min(PIECE, size - start)))
        return size


def names_in(folder: Path) -> list[str]:
    """List a folder, in order.

    Raises:
        Unreadable: it cannot be listed.

    """
    with _blamed_on(folder):
        return sorted(path.name for path in folder.iterdir())


@contextmanager
def opened(path: Path) -> Iterator[int | None]:
    """Open a regular file in a folder; yield its descriptor, or None where `read_plain` would.

    Raises:
        Unreadable: as `read_plain`.

    """
    with _blamed_on(path):
        descriptor = _open(path)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def piece(path: Path, descriptor: int, start: int, size: int) -> bytes:
    """Read a piece of a file that is open.

    Raises:
        Unreadable: its disk fails.

    """
    with _blamed_on(path):
        return os.pread(descriptor, size, start)


@contextmanager
def _blamed_on(path: Path) -> Iterator[None]:
    """Raise as Unreadable what is raised inside; it then names the whole path."""
    try:
        yield
    except OSError as error:
        raise Unreadable(error.errno, error.strerror, str(path)) from None


def _open(path: Path) -> int | None:
    """Open a file; None if it or its folder is missing or of another kind, rights or none."""
    try:
        folder = os.open(path.parent, NO_LINK | os.O_DIRECTORY)
    except OSError as error:
        if error.errno in ABSENT:
            return None
        raise
    try:
        descriptor = os.open(path.name, NO_LINK, dir_fd=folder)
    except OSError as error:
        if error.errno in ABSENT or not _is_regular(os.lstat(path.name, dir_fd=folder)):
            return None
        raise
    finally:
        os.close(folder)
    try:
        is_regular = _is_regular(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    if not is_regular:
        os.close(descriptor)
        return None
    return descriptor


def _is_regular(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode)
