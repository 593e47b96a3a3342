"""One grader at a time on one course."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.errors import CourseError
from grader.gradebook.lock import only_writer


@contextmanager
def only_grader(folder: Path, url: str) -> Iterator[None]:
    """Hold the course's locks; they are freed with the process, however that ends.

    Graders that share a gradebook on a server wait for one another, from whichever machine.

    Args:
        folder: the course's.
        url: its gradebook's.

    Raises:
        CourseError: another grader holds it (the message has its process id), or the folder is
            read-only, or the gradebook's server refuses.

    """
    with only_writer(url), _only_in(folder):
        yield


@contextmanager
def _only_in(folder: Path) -> Iterator[None]:
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
