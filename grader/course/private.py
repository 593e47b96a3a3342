"""Keep files with names or grades from all other users of the machine."""

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

ARCHIVE: Final = "archive"
SECRET: Final = "course_secret.txt"
FOLDERS: Final = (
    "submitted", "autograded", "feedback", "report", "lms", "gradebook-backups", "downloaded",
    "downloads", ARCHIVE,
)  # fmt: skip
FILES: Final = ("gradebook.db*", SECRET)  # beside them; * stands for any end
ONLY_OWNER: Final = 0o700


def keep_private(folder: Path) -> None:
    """Close a course's folders, gradebook and secret to other users, as far as they are there."""
    for name in FOLDERS:
        _close(folder / name, ONLY_OWNER)
    for pattern in FILES:
        for file in folder.glob(pattern):
            _close(file, 0o600)


def private_folder(path: Path) -> Path:
    """Make a folder, and those above it that are missing, for the owner alone; return it."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=ONLY_OWNER, exist_ok=True)
    return path


def write_private(path: Path, content: str | bytes) -> None:
    """Replace a file in one step by one that the owner alone may read.

    If that fails, nothing is left beside it.

    Raises:
        OSError: it cannot be written, or is a folder.

    """
    private_folder(path.parent)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # mkstemp's are private
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _close(path: Path, mode: int) -> None:
    """Take others' rights to a file or folder away; one that belongs to another user stays."""
    if path.exists() and not path.is_symlink():
        with suppress(PermissionError):
            path.chmod(path.stat().st_mode & mode)
