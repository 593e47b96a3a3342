"""Grade many submissions at once, each by a watcher of its own."""

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, cast

from grader.sandbox import Ended, Limits
from grader.sandbox.starting import send
from grader.workers.job_files import job_line, write_job
from grader.workers.results import NotStarted, TrialRun, as_one, await_ready, read_result
from grader.workers.resuming import Losses

ROOT: Final = Path(__file__).resolve().parents[2]
KEPT: Final = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH", "HOME", "TMPDIR")
FORK_SERVER: Final = ("-m", "grader.workers")
MOST_EARLY_ENDS: Final = 5  # in a row; who kills every process as it starts will not stop
MOST_GIVEN_UP: Final = 3  # in a row; what lacks processes or memory will lack them for all
SILENT_SECONDS: Final = 120.0  # beyond a job's own, on a machine that is busy with much else
STANDS_STILL: Final = (
    "A grading process has stood still for {seconds:.0f} seconds: something stopped it. It is "
    "started anew, and what it was at is graded again."
)
TOO_FEW: Final = (
    "Grading can have too few processes here, or too little memory. Close other programs, allow "
    "more (ulimit -u), or grade fewer at once (--jobs 1), then run the same command; what was "
    "graded is recorded."
)
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True)
class Job:
    """Work for isolated processes.

    Attributes:
        key: any number.
        steps: the plan's steps as JSON.
        seed: what hidden orders are drawn from; a job tried again has the same orders, so that
            nobody gets a better draw by crashing.
        spent: seconds of its time that earlier tries used.

    """

    key: int
    steps: bytes
    seed: bytes = field(default_factory=lambda: os.urandom(16), repr=False)
    spent: float = 0.0


class NeverCame(Exception):
    """A fork server that can work, as far as one knows, ended before it made a watcher."""


class ForkServer:
    """A freshly started fork server, of which watchers are copies.

    Attributes:
        worked: whether it has made a watcher.

    """

    def __init__(self, limits: Limits, *, isolate: bool, program: Sequence[str]) -> None:
        self.worked = False
        options = [f"{name}={float(value)}" for name, value in asdict(limits).items()]
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, *program, *options, *_flag(isolate=isolate)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                umask=0o022,  # what it makes is read by users that the sandbox makes
                cwd=ROOT,
                start_new_session=True,  # Ctrl-C and Ctrl-Z are the judging process's to handle
                env={name: os.environ[name] for name in KEPT if name in os.environ} | ONE_THREAD,
            )

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    @property
    def may_work(self) -> bool:
        """Whether it has worked, or something else ended it: a signal, for memory perhaps."""
        with contextlib.suppress(subprocess.TimeoutExpired):  # it lives: its watcher was killed
            return self.worked or self._process.wait(timeout=1) < 0
        return True

    @property
    def gave_up(self) -> bool:
        """Whether it ended by itself, since it could make no process; ask once it is closed."""
        return self.worked and self._process.returncode > 0

    def watcher(self, *, just_started: bool = False) -> "Watcher":
        """Ask for a watcher, which is there once the server is warm.

        Args:
            just_started: the server is new. If it has ended already, its watcher says so when one
                takes its result, as that of a server that ends a moment later.

        Raises:
            ConnectionError: the server has ended, and is not new.

        """
        (jobs, ours), (results, theirs) = os.pipe(), os.pipe()
        watcher = Watcher(ours, results, self)
        try:
            send(self._connection, None, [jobs, theirs])
        except ConnectionError:
            if not just_started:
                watcher.close()
                raise
        finally:
            os.close(jobs)
            os.close(theirs)
        return watcher

    def kill(self) -> None:
        """End it and all its copies, those too that stand still."""
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Stop it, and all its copies with it."""
        self.kill()
        self._process.wait()
        self._connection.close()


class Watcher:
    """The ends of a watcher's pipes, and its current job.

    Args:
        jobs: where jobs go in.
        results: where results come out.

    Attributes:
        server: what makes it.
        heard: when it was given its job, or told something since, by time.monotonic.

    """

    def __init__(self, jobs: int, results: int, server: ForkServer) -> None:
        self.server = server
        self._jobs = os.fdopen(jobs, "wb", buffering=0)
        # A buffer would hold a second result where no selector sees it.
        self.results = cast("IO[bytes]", os.fdopen(results, "rb", buffering=0))
        self.job: Job | None = None
        self.heard = time.monotonic()
        self._runs: list[TrialRun | None] = []
        self._ready = False

    def give(self, job: Job, file: Path) -> None:
        """Hand over a job, written to files that only this side may read."""
        write_job(file, job.steps, job.seed)
        self.job, self.heard = job, time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it died; taking its result will show it
            self._jobs.write(job_line(job.spent, file))

    def take(self) -> tuple[Job, Ended | None] | None:
        """Return the finished job and how it ended; None if more follows.

        Raises:
            CannotIsolate: this machine cannot isolate.
            NotStarted: the fork server cannot start to work; its stderr says why.
            NeverCame: it ended before it began with the job.

        """
        self.heard = time.monotonic()
        if not self._ready:
            self._await_ready()
            return None
        run = read_result(self.results)
        self._runs.append(run)
        if run is not None and run.more:
            return None
        runs, self._runs = self._runs, []
        job, self.job = cast("Job", self.job), None
        return job, as_one(runs)

    def _await_ready(self) -> None:
        try:
            await_ready(self.results)
        except NotStarted:
            if self.server.may_work:
                raise NeverCame from None
            raise
        self._ready = self.server.worked = True

    def close(self) -> None:
        """Let it end, once it has no job."""
        self._jobs.close()
        self.results.close()


def _flag(*, isolate: bool) -> list[str]:
    return [] if isolate else ["no-isolation"]


class _Ahead(Iterator[Job]):
    """Jobs of which one is made ready while the watchers are at work: reading takes time."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._jobs = iter(jobs)
        self._ready: list[Job] = []

    def __next__(self) -> Job:
        return self._ready.pop() if self._ready else next(self._jobs)

    def make_ready(self) -> None:
        """Read one job more, unless one is ready."""
        if not self._ready:
            self._ready.extend(islice(self._jobs, 1))


class Pool:
    """A few watchers that share the jobs; a dead one is replaced, its job tried once more."""

    def __init__(
        self,
        n_watchers: int,
        limits: Limits,
        *,
        isolate: bool = True,
        scratch: Path | None = None,
        program: Sequence[str] = FORK_SERVER,
    ) -> None:
        self._limits, self._isolate, self._program = limits, isolate, program
        self._patience = limits.wall_seconds + SILENT_SECONDS
        self._early_ends = self._given_up = 0
        self._folder = tempfile.TemporaryDirectory(prefix="jobs-", dir=scratch)  # mode 700
        self._server = self._new_server()  # it warms up meanwhile
        self._watchers = [self._server.watcher(just_started=True) for _ in range(n_watchers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for watcher in self._watchers:
            watcher.close()
        self._folder.cleanup()

    @property
    def pid(self) -> int:
        """The fork server's process id."""
        return self._server.pid

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Ended | None]]:
        """Run jobs as watchers become free; yield (key, how it ended) in the order they finish.

        A job whose watcher or fork server died, or that crashed, is tried again: the machine may be
        to blame. One that crashes again, or runs for ever, is taken up again without the step that
        it did not come back from, while there is time left: all its processes together have the
        wall-clock seconds of the limits. None stands for a job whose workers died each time.

        Raises:
            NotStarted: no fork server can work, or go on: the message says what helps.

        """
        waiting = _Ahead(jobs)
        losses: dict[int, Losses] = {}
        again: list[Job] = []
        while self._hand_out(waiting, again):
            waiting.make_ready()
            watcher = self._next_done()
            try:
                taken = watcher.take()
            except NeverCame:
                self._note_early_end(watcher)
                again.append(cast("Job", watcher.job))
                self._replace(watcher)
                continue
            self._early_ends = 0
            if taken is None:
                continue
            job, ended = taken
            if ended is None:
                self._replace(watcher)
            else:
                self._given_up = 0
            lost = losses.setdefault(job.key, Losses())
            steps = lost.go_on(job.steps, ended, self._limits.wall_seconds)
            if steps is not None:
                again.append(replace(job, steps=steps, spent=lost.seconds))
            else:
                self._hand_out(waiting, again)  # judging what ended keeps no watcher waiting
                yield job.key, losses.pop(job.key).told_with(ended)

    def _note_early_end(self, watcher: Watcher) -> None:
        """Count a fork server that ended early: once, however many watchers never came with it.

        Raises:
            NotStarted: there were too many in a row.

        """
        self._early_ends += watcher.server is self._server
        if self._early_ends > MOST_EARLY_ENDS:
            raise NotStarted(
                "Something ends or stops each grading process as it starts: is memory short? Grade "
                "fewer at once (--jobs 1), or give the machine more; what was graded is recorded."
            )

    def _hand_out(self, waiting: Iterator[Job], again: list[Job]) -> bool:
        """Give every idle watcher a job while any is left; return whether any is at work."""
        for number, watcher in enumerate(self._watchers):
            if watcher.job is None:
                job = again.pop() if again else next(waiting, None)
                if job is not None:
                    watcher.give(job, Path(self._folder.name) / str(number))
        return any(watcher.job for watcher in self._watchers)

    def _next_done(self) -> Watcher:
        """Return a watcher that tells something; if one stands still, its fork server is ended."""
        at_work = [watcher for watcher in self._watchers if watcher.job is not None]
        with selectors.DefaultSelector() as selector:
            for watcher in at_work:
                selector.register(watcher.results, selectors.EVENT_READ, watcher)
            while True:
                silent = time.monotonic() - min(watcher.heard for watcher in at_work)
                if told := selector.select(max(0.0, self._patience - silent)):
                    return cast("Watcher", told[0][0].data)
                self._end_still()

    def _end_still(self) -> None:
        """End a fork server that stands still, or a copy of it: all that wait for them hear."""
        print(STANDS_STILL.format(seconds=self._patience), file=sys.stderr)
        self._server.kill()
        for watcher in self._watchers:
            watcher.heard = time.monotonic()

    def _replace(self, dead: Watcher) -> None:
        dead.close()
        self._watchers[self._watchers.index(dead)] = self._new_watcher()

    def _new_watcher(self) -> Watcher:
        try:
            return self._server.watcher()
        except ConnectionError:  # the fork server is dead, too
            self._server.close()
            self._given_up += self._server.gave_up
            if self._given_up == MOST_GIVEN_UP:
                raise NotStarted(TOO_FEW) from None
            self._server = self._new_server()
            return self._server.watcher(just_started=True)

    def _new_server(self) -> ForkServer:
        return ForkServer(self._limits, isolate=self._isolate, program=self._program)
