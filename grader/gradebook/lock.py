"""One writer at a time on a gradebook that several machines share."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, text

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
