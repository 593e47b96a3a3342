"""The scheduler as the client speaks to it: every wait has an end, every mishap a sentence."""

import contextlib
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from distributed import Client, Future, KilledWorker, wait
from distributed.client import FutureCancelledError, FuturesCancelledError

from grader.errors import CourseError

Task = Callable[[bytes, float], bytes]  # a batch and patience in, an answer out
KEPT: Final = "What was graded is recorded: run the same command again to grade the rest."


@dataclass(frozen=True)
class Patience:
    """How long a client waits for what, in seconds: no wait is without an end.

    Attributes:
        batch: a worker begins no further submission of a batch after so long.
        silence: what a submission may take beyond its own wall-clock limit, start-up included;
            then the process that grades is taken to hang.
        workers: for a worker, when there is none.
        scheduler: for a scheduler that does not answer.
        look: from one look at the workers to the next.

    """

    batch: float = 600.0
    silence: float = 240.0
    workers: float = 300.0
    scheduler: float = 30.0
    look: float = 2.0

    def flight(self, wall_seconds: float) -> float:
        """Return how long a batch may be away: it may wait for another one before it begins."""
        return 2 * (self.batch + self.silence + wall_seconds)


@dataclass(frozen=True)
class Landed:
    """A batch that is over.

    Attributes:
        key: its future's.
        answer: None if it was lost; then it may not have been graded.
        is_blamed: whether it was lost with so many workers that it may be the cause.

    """

    key: str
    answer: bytes | None
    is_blamed: bool = False


class Scheduler:
    """A connected client of Dask's."""

    def __init__(self, client: Client, patience: Patience) -> None:
        self._client, self._patience = client, patience

    def workers(self) -> dict[str, int]:
        """Return the address of each worker that is there now -> its threads.

        Raises:
            CourseError: the scheduler is gone.

        """
        self._await_scheduler()
        remote: Any = self._client.scheduler
        try:
            told = self._client.sync(
                remote.identity, n_workers=-1, callback_timeout=self._patience.scheduler
            )
        except OSError:  # a timeout too
            raise CourseError(self._gone) from None
        found: Mapping[str, Any] = told["workers"]
        return {address: about["nthreads"] for address, about in found.items()}

    def await_workers(self) -> dict[str, int]:
        """Wait for a worker; return all that are there then.

        Raises:
            CourseError: none came.

        """
        until = time.monotonic() + self._patience.workers
        while not (found := self.workers()):
            if time.monotonic() > until:
                raise CourseError(
                    f"The cluster has had no worker for {self._patience.workers:g} seconds. Start "
                    f"some. {KEPT}"
                )
            time.sleep(min(0.2, self._patience.look))
        return found

    def _await_scheduler(self) -> None:
        """Wait while Dask connects anew.

        Raises:
            CourseError: it gave up, or takes too long.

        """
        until = time.monotonic() + self._patience.scheduler
        while self._client.status != "running":
            if self._client.status != "connecting" or time.monotonic() > until:
                raise CourseError(self._gone)
            time.sleep(0.1)

    @property
    def _gone(self) -> str:
        return f"The cluster's scheduler does not answer any more. Start it again. {KEPT}"

    def send(
        self, task: Task, key: str, given: tuple[bytes, float], workers: Collection[str]
    ) -> Future[bytes]:
        """Send a batch to the cluster; to some workers alone, if any are named."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # a student's large notebook
            return self._client.submit(
                task, *given, key=key, pure=False, workers=list(workers) or None
            )

    def landed(self, futures: Sequence[Future[bytes]]) -> Iterator["Landed"]:
        """Wait a little for any of the futures; yield those that are over.

        Raises:
            CourseError: a worker cannot run the course's code.

        """
        over = contextlib.suppress(TimeoutError, FuturesCancelledError)
        with over, self._client.as_current():
            wait(list(futures), timeout=self._patience.look, return_when="FIRST_COMPLETED")
        for future in futures:
            if future.status == "finished":
                # If its worker was lost meanwhile, it is computed anew, and lands another time.
                with contextlib.suppress(TimeoutError, FutureCancelledError):
                    yield Landed(str(future.key), self._answer_of(future))
            elif future.status == "error":
                self._verify_lost(future)
                yield Landed(str(future.key), None, is_blamed=True)
            elif future.status != "pending":
                yield Landed(str(future.key), None)

    def _answer_of(self, future: Future[bytes]) -> bytes:
        """Fetch an answer.

        Raises:
            CourseError: it is no bytes; Dask would have to unpickle it, which this client does not.

        """
        try:
            return future.result(timeout=self._patience.scheduler)
        except TypeError:
            raise CourseError(
                "A worker answered with an object and no bytes: it does not run the course's "
                f"grader. Look at who may start workers on this cluster. {KEPT}"
            ) from None

    def _verify_lost(self, future: Future[bytes]) -> None:
        """Raise CourseError if a batch failed by anything but the loss of its workers."""
        error = future.exception(timeout=self._patience.scheduler)
        if not isinstance(error, KilledWorker):
            raise CourseError(
                f"A worker cannot run the course's grader ({type(error).__name__}: {error}). "
                f"Install the course there, as docs/cluster.md says. {KEPT}"
            )
