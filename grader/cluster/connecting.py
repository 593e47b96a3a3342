"""Open a way to the workers: to a scheduler that runs, or to one of this run's own."""

import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

import dask
from distributed import Client, LocalCluster, Security

from grader.cluster.address import Local, Remote
from grader.cluster.scheduler import Patience, Scheduler
from grader.errors import CourseError

# Nothing but bytes is to come back: a result is never unpickled.
SERIALIZERS: Final = {"serializers": ["msgpack"], "deserializers": ["dask", "msgpack"]}
LOCAL_SETTINGS: Final[dict[str, list[str]]] = {
    "distributed.scheduler.http.routes": [],  # Dask's web pages have no password
    "distributed.worker.http.routes": [],
}
NO_PAGES: Final = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
SILENT: Final = logging.CRITICAL + 1
CLOSING: Final = 10  # seconds to say good-bye to a scheduler that may be gone
CERTIFICATES: Final = (
    "Check the certificates that Dask's settings name (distributed.comm.tls: ca-file, and cert and "
    "key of the client), as docs/cluster.md says."
)


class _Client(Client):
    """A client that is closed by whoever opened it; the collector would wait, and complain."""

    def __del__(self) -> None:
        """Do nothing."""


def connected(
    where: Local | Remote, scratch: Path, patience: Patience
) -> AbstractContextManager[Scheduler]:
    """Connect to workers; those of this machine are started, and stopped at the end.

    Args:
        where: the workers.
        scratch: a folder for what workers on this machine write.
        patience: how long a scheduler is waited for.

    Raises:
        CourseError: no scheduler answers, or it is not trusted.

    """
    logging.getLogger("distributed").setLevel(SILENT)  # what matters is told by us
    if isinstance(where, Local):
        return _on_this_machine(where, scratch, patience)
    return _at_an_address(where, patience)


@contextmanager
def _on_this_machine(where: Local, scratch: Path, patience: Patience) -> Iterator[Scheduler]:
    """Start workers; encrypted too, for other users of this machine can reach their ports."""
    security = Security.temporary()
    try:
        with dask.config.set(LOCAL_SETTINGS), _deaf_to_ctrl_c():
            cluster = LocalCluster(
                n_workers=where.n_workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                protocol="tls",
                security=security,
                scheduler_kwargs=NO_PAGES,
                memory_limit=0,
                local_directory=str(scratch),
                silence_logs=SILENT,
            )
    except (OSError, RuntimeError) as error:
        raise CourseError(f"The workers could not be started on this machine: {error}") from None
    try:
        with _open(cluster.scheduler_address, security, patience) as client:
            yield Scheduler(client, patience)
    finally:
        cluster.close(timeout=CLOSING)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Have the processes that are started meanwhile ignore Ctrl-C, which is for the client."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _at_an_address(where: Remote, patience: Patience) -> Iterator[Scheduler]:
    """Connect to a scheduler, with the certificates that Dask's own settings name."""
    try:
        socket.create_connection(where.place, timeout=patience.scheduler).close()
        security = Security(require_encryption=True)
    except OSError as error:
        raise CourseError(
            f"No scheduler answers at {where.address} ({error}). Start one there, or correct the "
            "address."
        ) from None
    with _open(where.address, security, patience) as client:
        yield Scheduler(client, patience)


@contextmanager
def _open(address: str, security: Any, patience: Patience) -> Iterator[Client]:
    try:
        client = _Client(
            address,
            timeout=patience.scheduler,
            security=security,
            set_as_default=False,
            **SERIALIZERS,
        )
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise CourseError(
            f"The scheduler at {address} cannot be spoken to ({error}). {CERTIFICATES}"
        ) from None
    try:
        yield client
    finally:
        client.close(timeout=CLOSING)
