"""One grader at a time on one course."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.errors import CourseError


@contextmanager
def only_grader(folder: Path) -> Iterator[None]:
    """Hold the course's grading lock; it is freed with the process, however that ends.

    Raises:
        CourseError: another grader holds it (the message has its process id), or the folder is
            read-only.

    """
    path = folder / ".course" / "grading.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise CourseError(
            f"{path} cannot be written ({error.strerror}). Check that {path.parent} is a folder "
            "that you may write in, then run the same command."
        ) from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            raise CourseError(
                f"Another grader is at work on this course (process {holder}). Wait until it is "
                "done, then run the same command."
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield
