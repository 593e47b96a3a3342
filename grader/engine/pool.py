"""Grade many submissions at once, on several foremen."""

import contextlib
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, cast

from grader.engine.foreman import await_ready, read_result, seed_of
from grader.engine.remote import Sitting, as_one
from grader.isolation import Ended, Limits

ROOT: Final = Path(__file__).resolve().parents[2]
KEPT: Final = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH", "HOME", "TMPDIR")
FOREMAN: Final = ("-m", "grader.engine")
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True)
class Job:
    """Work for isolated processes.

    Attributes:
        key: any number.
        steps: the plan's steps as JSON.
        seed: what hidden orders are drawn from; a job tried again has the same ones, so that
            nobody gets a better draw by crashing.
    """

    key: int
    steps: bytes
    seed: bytes = field(default_factory=lambda: os.urandom(16), repr=False)


class ForemanProcess:
    """A foreman, started anew, and the job that it has in hand."""

    def __init__(self, limits: Limits, *, isolate: bool, program: Sequence[str]) -> None:
        options = [f"{name}={float(value)}" for name, value in asdict(limits).items()]
        self._process = subprocess.Popen(
            [sys.executable, *program, *options, *_flag(isolate=isolate)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={name: os.environ[name] for name in KEPT if name in os.environ} | ONE_THREAD,
        )
        self._jobs = cast("IO[bytes]", self._process.stdin)
        self.results = cast("IO[bytes]", self._process.stdout)
        self.job: Job | None = None
        self._sittings: list[Sitting | None] = []
        self._ready = False

    @property
    def pid(self) -> int:
        """The foreman's process id."""
        return self._process.pid

    def give(self, job: Job, file: Path) -> None:
        """Hand over a job, written to files that only this side may read."""
        file.write_bytes(job.steps)
        seed_of(file).write_bytes(job.seed)
        self.job = job
        with contextlib.suppress(BrokenPipeError):  # it died; taking its result will show so
            self._jobs.write(os.fsencode(file) + b"\n")
            self._jobs.flush()

    def take(self) -> tuple[Job, Ended | None] | None:
        """The job that is done, and what came of it; None where another sitting follows.

        Raises:
            CannotIsolate: this machine cannot isolate.
            RuntimeError: the foreman never came to work; its own words are on stderr.
        """
        if not self._ready:
            await_ready(self.results)
            self._ready = True
        sitting = read_result(self.results)
        self._sittings.append(sitting)
        if sitting is not None and sitting.more:
            return None
        sittings, self._sittings = self._sittings, []
        job, self.job = cast("Job", self.job), None
        return job, as_one(sittings)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):  # a job that it did not live to take
            self._jobs.close()
        self.results.close()


def _flag(*, isolate: bool) -> list[str]:
    return [] if isolate else ["no-isolation"]


class Pool:
    """A few foremen that share the jobs; one that dies is replaced, and its job tried once more."""

    def __init__(
        self,
        n_foremen: int,
        limits: Limits,
        *,
        isolate: bool = True,
        scratch: Path | None = None,
        foreman: Sequence[str] = FOREMAN,
    ) -> None:
        self._limits, self._isolate, self._foreman = limits, isolate, foreman
        self._folder = tempfile.TemporaryDirectory(prefix="jobs-", dir=scratch)  # mode 700
        self._foremen = [self._new() for _ in range(n_foremen)]  # they warm up meanwhile

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for foreman in self._foremen:
            foreman.close()
        self._folder.cleanup()

    @property
    def pids(self) -> list[int]:
        """The foremen's process ids."""
        return [foreman.pid for foreman in self._foremen]

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Ended | None]]:
        """Run jobs as foremen come free; yield (key, what came of it), in the order of finishing.

        A job whose foreman or attendant died, or that crashed, is tried once more: the machine may
        be to blame. None stands for one that died twice.
        """
        waiting, tried = iter(jobs), set[int]()
        again: list[Job] = []
        while self._hand_out(waiting, again):
            foreman = self._next_done()
            taken = foreman.take()
            if taken is None:
                continue
            job, ended = taken
            if ended is None:
                self._replace(foreman)
            if (ended is None or ended.status == "crashed") and job.key not in tried:
                tried.add(job.key)
                again.append(job)
            else:
                yield job.key, ended

    def _hand_out(self, waiting: Iterator[Job], again: list[Job]) -> bool:
        """Give every idle foreman a job while there is one; whether any is at work."""
        for number, foreman in enumerate(self._foremen):
            if foreman.job is None:
                job = again.pop() if again else next(waiting, None)
                if job is not None:
                    foreman.give(job, Path(self._folder.name) / str(number))
        return any(foreman.job for foreman in self._foremen)

    def _next_done(self) -> ForemanProcess:
        with selectors.DefaultSelector() as selector:
            for foreman in self._foremen:
                if foreman.job is not None:
                    selector.register(foreman.results, selectors.EVENT_READ, foreman)
            return cast("ForemanProcess", selector.select()[0][0].data)

    def _replace(self, dead: ForemanProcess) -> None:
        dead.close()
        self._foremen[self._foremen.index(dead)] = self._new()

    def _new(self) -> ForemanProcess:
        return ForemanProcess(self._limits, isolate=self._isolate, program=self._foreman)
