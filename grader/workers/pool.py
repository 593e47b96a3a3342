"""Grade many submissions at once, on several fork servers."""

import contextlib
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, cast

from grader.sandbox import Ended, Limits
from grader.workers.job_files import write_job
from grader.workers.results import TrialRun, as_one, await_ready, read_result
from grader.workers.resuming import Losses

ROOT: Final = Path(__file__).resolve().parents[2]
KEPT: Final = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH", "HOME", "TMPDIR")
FORK_SERVER: Final = ("-m", "grader.workers")
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


class ForkServer:
    """A freshly started fork server and its current job."""

    def __init__(self, limits: Limits, *, isolate: bool, program: Sequence[str]) -> None:
        options = [f"{name}={float(value)}" for name, value in asdict(limits).items()]
        self._process = subprocess.Popen(
            [sys.executable, *program, *options, *_flag(isolate=isolate)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            umask=0o022,  # what it makes is read by users that the sandbox makes
            bufsize=0,  # a buffer would hold a second result where no selector sees it
            cwd=ROOT,
            env={name: os.environ[name] for name in KEPT if name in os.environ} | ONE_THREAD,
        )
        self._jobs = cast("IO[bytes]", self._process.stdin)
        self.results = cast("IO[bytes]", self._process.stdout)
        self.job: Job | None = None
        self._runs: list[TrialRun | None] = []
        self._ready = False

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def give(self, job: Job, file: Path) -> None:
        """Hand over a job, written to files that only this side may read."""
        write_job(file, job.steps, job.seed)
        self.job = job
        with contextlib.suppress(BrokenPipeError):  # it died; taking its result will show it
            self._jobs.write(b"%f " % job.spent + os.fsencode(file) + b"\n")
            self._jobs.flush()

    def take(self) -> tuple[Job, Ended | None] | None:
        """Return the finished job and how it ended; None if another trial run follows.

        Raises:
            CannotIsolate: this machine cannot isolate.
            RuntimeError: the fork server never started to work; its stderr says why.

        """
        if not self._ready:
            await_ready(self.results)
            self._ready = True
        run = read_result(self.results)
        self._runs.append(run)
        if run is not None and run.more:
            return None
        runs, self._runs = self._runs, []
        job, self.job = cast("Job", self.job), None
        return job, as_one(runs)

    def close(self) -> None:
        """Stop the fork server."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):  # it died before it took a job
            self._jobs.close()
        self.results.close()


def _flag(*, isolate: bool) -> list[str]:
    return [] if isolate else ["no-isolation"]


class _Ahead(Iterator[Job]):
    """Jobs of which one is made ready while the fork servers are at work: reading takes time."""

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
    """A few fork servers that share the jobs; a dead one is replaced, its job tried once more."""

    def __init__(
        self,
        n_servers: int,
        limits: Limits,
        *,
        isolate: bool = True,
        scratch: Path | None = None,
        program: Sequence[str] = FORK_SERVER,
    ) -> None:
        self._limits, self._isolate, self._program = limits, isolate, program
        self._folder = tempfile.TemporaryDirectory(prefix="jobs-", dir=scratch)  # mode 700
        self._servers = [self._new() for _ in range(n_servers)]  # they warm up meanwhile

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self._servers:
            server.close()
        self._folder.cleanup()

    @property
    def pids(self) -> list[int]:
        """The fork servers' process ids."""
        return [server.pid for server in self._servers]

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Ended | None]]:
        """Run jobs as servers become free; yield (key, how it ended) in the order they finish.

        A job whose fork server or watcher died, or that crashed, is tried once more: the machine
        may be to blame. One that crashes again, or runs for ever, is taken up again without the
        step that it did not come back from, while there is time left: all its processes together
        have the wall-clock seconds of the limits. None stands for a job that died twice.
        """
        waiting = _Ahead(jobs)
        losses: dict[int, Losses] = {}
        again: list[Job] = []
        while self._hand_out(waiting, again):
            waiting.make_ready()
            server = self._next_done()
            taken = server.take()
            if taken is None:
                continue
            job, ended = taken
            if ended is None:
                self._replace(server)
            lost = losses.setdefault(job.key, Losses())
            steps = lost.go_on(job.steps, ended, self._limits.wall_seconds)
            if steps is not None:
                again.append(replace(job, steps=steps, spent=lost.seconds))
            else:
                self._hand_out(waiting, again)  # judging what ended keeps no server waiting
                yield job.key, losses.pop(job.key).told_with(ended)

    def _hand_out(self, waiting: Iterator[Job], again: list[Job]) -> bool:
        """Give every idle fork server a job while any is left; return whether any is at work."""
        for number, server in enumerate(self._servers):
            if server.job is None:
                job = again.pop() if again else next(waiting, None)
                if job is not None:
                    server.give(job, Path(self._folder.name) / str(number))
        return any(server.job for server in self._servers)

    def _next_done(self) -> ForkServer:
        with selectors.DefaultSelector() as selector:
            for server in self._servers:
                if server.job is not None:
                    selector.register(server.results, selectors.EVENT_READ, server)
            return cast("ForkServer", selector.select()[0][0].data)

    def _replace(self, dead: ForkServer) -> None:
        dead.close()
        self._servers[self._servers.index(dead)] = self._new()

    def _new(self) -> ForkServer:
        return ForkServer(self._limits, isolate=self._isolate, program=self._program)
