"""One fork server for many tests: to warm one up takes as long as to grade thirty submissions.

Not for tests of what happens to a fork server itself: pools that share one cannot end it.
"""

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from grader.workers.pool import KEPT, ForkServer, Pool

# Not PATH: nbgrader_config.py makes it longer whenever a course is read.
ENVIRONMENT = sorted({*KEPT} - {"PATH"})
_servers: dict[object, "Shared"] = {}


class Shared(ForkServer):
    """A fork server that stays for the next pool; a pool's watchers end with their pipes."""

    def close(self) -> None:
        pass

    def end(self) -> None:
        super().close()

    @property
    def is_there(self) -> bool:
        return self._process.poll() is None


def shared(pool: Pool) -> Shared:
    """Give the server of all pools that are set alike, in an environment alike."""
    environment = tuple(os.environ.get(name) for name in ENVIRONMENT)
    key = (pool._limits, pool._isolate, tuple(pool._program), environment)
    if key not in _servers or not _servers[key].is_there:
        _servers[key] = Shared(pool._limits, isolate=pool._isolate, program=pool._program)
    return _servers[key]


@contextmanager
def one_fork_server() -> Iterator[None]:
    """Let all pools that this process opens meanwhile share their fork server."""
    with mock.patch.object(Pool, "_new_server", shared):
        yield


@atexit.register
def _end_all() -> None:
    for server in _servers.values():
        server.end()
