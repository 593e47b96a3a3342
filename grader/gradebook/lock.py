"""One grader at a time on one course, and one writer on a gradebook that several machines share."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, text

from grader.errors import CourseError
from grader.gradebook.address import is_on_server, shown
from grader.gradebook.server import COUNTING, connection

WRITING: Final = 0x6E_62_67_02  # of the advisory lock that a grader holds while it works
LONGEST: Final = 63  # bytes of a name that the server keeps
_HOLDER: Final = text(
    "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND granted AND objid = :key"
    " AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


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


@contextmanager
def only_writer(url: str) -> Iterator[None]:
    """Hold the gradebook's lock, waiting for whoever has it; a file's gradebook has none.

    It is the connection's: the server frees it when this process ends, however that ends. At the
    end the server counts its rows: after many were written its queries are slow until it has.

    Raises:
        CourseError: the server refuses.

    """
    if not is_on_server(url):
        yield
        return
    about = {"application_name": _name(), "keepalives_idle": 30}
    with connection(url, connect_args=about, isolation_level="AUTOCOMMIT") as at:
        _take(at, url)
        yield
        at.execute(COUNTING)


def _name() -> str:
    """Return who holds the lock, as others are told."""
    end = f", process {os.getpid()}"
    return f"{socket.gethostname()[: LONGEST - len(end)]}{end}"


def _take(at: Connection, url: str) -> None:
    key = {"key": WRITING}
    if at.scalar(text("SELECT pg_try_advisory_lock(:key)"), key):
        return
    holder = at.scalar(_HOLDER, key) or "which ends just now"
    print(
        f"Another grader writes into the gradebook {shown(url)} ({holder}). Waiting until it is "
        "done; Ctrl-C gives up.",
        flush=True,
    )
    at.execute(text("SELECT pg_advisory_lock(:key)"), key)
