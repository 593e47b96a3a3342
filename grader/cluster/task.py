"""A Dask worker's task: hand a batch to the process beside the worker, and return its answer.

A Dask worker has threads, and reading a submission forks; so the worker grades nothing itself. It
looks into nothing that a student wrote either: a batch and its answers are bytes to it.
"""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, cast

from distributed import get_worker

from grader.cluster.pipes import Ended, Lines, Silent

ROOT: Final = Path(__file__).resolve().parents[2]
PROGRAM: Final = ("-m", "grader.cluster")
END: Final = b"end"  # the line after the last answer
LOST: Final = b'{"lost": "%s"}'
_AT_WORK: Final = threading.Lock()  # one batch at a time: it has all of the worker's watchers
_shells: Final[list["Shell"]] = []  # none or one


class Shell:
    """The process beside a worker: trusted, as the worker is; student code runs below it."""

    def __init__(self, n_watchers: int, scratch: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *PROGRAM, str(n_watchers), scratch],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
            start_new_session=True,  # Ctrl-C is the client's to handle
        )
        self._pipes = [cast("IO[bytes]", self._process.stdin)]
        self._pipes += [cast("IO[bytes]", self._process.stdout)]
        self._lines = Lines(*self._pipes)

    def ask(self, request: bytes, patience: float) -> Iterator[bytes]:
        """Yield the answers to a batch, each as JSON.

        Raises:
            Silent: nothing came for `patience` seconds.
            Ended: the process is gone.

        """
        self._lines.write(request, patience)
        while (line := self._lines.read(patience)) != END:
            yield line

    def close(self) -> None:
        """Stop the process; its fork server ends with it."""
        self._process.kill()
        self._process.wait()
        for pipe in self._pipes:
            pipe.close()


def grade_batch(request: bytes, patience: float) -> bytes:
    """Grade a batch on this worker; whatever happens is told in the answer, as JSON.

    Args:
        request: the batch (see `request`).
        patience: the seconds without a sign after which the process beside the worker is stopped.

    """
    worker = get_worker()
    with _AT_WORK:
        answers = list(_answers(request, patience, worker.state.nthreads, worker.local_directory))
    address = worker.address.encode()
    return b'{"worker": "%s", "answers": [%s]}' % (address, b",".join(answers))


def _answers(request: bytes, patience: float, n_watchers: int, scratch: str) -> Iterator[bytes]:
    try:
        if not _shells:
            _shells.append(Shell(n_watchers, scratch))
        yield from _shells[0].ask(request, patience)
    except (Silent, Ended, OSError) as error:
        what = "it gave no sign for too long" if isinstance(error, Silent) else "it ended"
        yield LOST % what.encode()
        while _shells:
            _shells.pop().close()
