"""Dask clusters of real processes on this machine, made to be broken; classes to grade there."""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from unittest.mock import patch

import dask
import psutil
import pytest
from distributed import Client, Security

from grader.authoring import sample_class
from grader.course.course import GradingCourse
from grader.sandbox import CannotIsolate, Limits, require
from tests.course.lesson_runs import ROOT, all_lessons

LESSON = "00_start_here"
QUICK = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s", "OMP_NUM_THREADS": "1"}
DASK = [sys.executable, "-m", "dask"]
NO_PAGES = ["--no-dashboard"]


def need_isolation() -> None:
    try:
        require((), Limits())
    except CannotIsolate as error:
        pytest.skip(f"this machine cannot isolate: {error}")


def await_that(holds: Callable[[], object], what: str, seconds: float = 600) -> None:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise AssertionError(f"in {seconds} seconds not: {what}")
        time.sleep(0.05)


def submissions(lesson: str = LESSON) -> dict[str, bytes]:
    """The class of six's notebooks of a lesson, by student."""
    return {s: text.encode() for s, text in _class_of_six(lesson).items()}


@cache
def _class_of_six(lesson: str) -> Mapping[str, str]:
    return sample_class.submissions(all_lessons()[lesson])


def hand_in(folder: Path, notebooks: Mapping[str, bytes], lesson: str = LESSON) -> GradingCourse:
    for student, data in notebooks.items():
        path = folder / "submitted" / student / lesson / f"{lesson}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return GradingCourse(ROOT, folder)


def many(count: int) -> dict[str, bytes]:
    """So many students, who hand in what the class of six does, in turn."""
    kinds = list(submissions().values())
    return {f"s{n:03d}": kinds[n % len(kinds)] for n in range(count)}


def scores_of(course: GradingCourse, lesson: str = LESSON) -> dict[str, dict[str, float | None]]:
    found = next(x for x in course.lessons if x.name == lesson)
    return {row.student: row.scores for row in course.book().of(found.name)}


@cache
def tls_settings() -> Path:
    """A folder with Dask's settings for TLS, and certificates made for this run of the tests."""
    folder = Path(tempfile.mkdtemp(prefix="tls-"))
    atexit.register(shutil.rmtree, folder)
    made = Security.temporary()
    parts = {"ca": made.tls_ca_file, "cert": made.tls_client_cert, "key": made.tls_client_key}
    for name, text in parts.items():
        (folder / f"{name}.pem").write_text(text)
    own = {name: str(folder / f"{name}.pem") for name in ("cert", "key")}
    tls = {"ca-file": str(folder / "ca.pem"), "client": own, "scheduler": own, "worker": own}
    comm = {"require-encryption": True, "tls": tls}
    (folder / "tls.yaml").write_text(json.dumps({"distributed": {"comm": comm}}))  # YAML, too
    return folder


class BrokenCluster:
    """A scheduler and workers of its own, each worker with a nanny that starts it anew.

    `more` are variables for all.
    """

    def __init__(self, folder: Path, n_workers: int, **more: str) -> None:
        self.folder, self._environment = folder, os.environ | QUICK | more
        self._started: list[subprocess.Popen[bytes]] = []
        file = str(folder / "address")
        home = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", file]
        self.scheduler = self._start("scheduler", *home, "--protocol", "tls")
        await_that(self._is_up, "the scheduler is up")
        self.workers = [self.add_worker() for _ in range(n_workers)]

    def _is_up(self) -> bool:
        with suppress(OSError, ValueError):
            self.address = json.loads((self.folder / "address").read_text())["address"]
            return True
        return False

    def _start(self, *words: str, before: Sequence[str] = (), **more: str) -> psutil.Process:
        started = subprocess.Popen(
            [*before, *DASK, *words, *NO_PAGES],
            cwd=self.folder,
            env=self._environment | more,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._started.append(started)
        return psutil.Process(started.pid)

    def add_worker(self, *, before: Sequence[str] = (), **more: str) -> psutil.Process:
        """Start a worker; return its nanny. `before` are words before the command."""
        home = self.folder / f"worker-{len(self._started)}"
        home.mkdir()
        return self._start("worker", self.address, "--nthreads", "1", "--local-directory",
                           str(home), before=before, **more)  # fmt: skip

    def await_workers(self, count: int) -> None:
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=600)

    def close(self) -> None:
        below = [p for s in self._started for p in descendants(psutil.Process(s.pid))]
        for process in self._started:
            process.kill()
            process.wait()
        for process in below:
            with suppress(psutil.NoSuchProcess):
                process.kill()


def descendants(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def is_running(process: psutil.Process, *words: str) -> bool:
    """Whether a process runs a command that has these words."""
    with suppress(psutil.Error):
        line = " ".join(process.cmdline())
        return all(word in line for word in words)
    return False


def shells(of: psutil.Process) -> list[psutil.Process]:
    """The processes that grade beside a worker."""
    return [p for p in descendants(of) if is_running(p, "grader.cluster")]


def stop(process: psutil.Process) -> None:
    process.send_signal(signal.SIGSTOP)


@contextmanager
def broken_cluster(folder: Path, n_workers: int, **more: str) -> Iterator[BrokenCluster]:
    """A cluster that this process and those that it starts meanwhile may speak to."""
    settings = more.get("DASK_CONFIG", str(tls_settings()))
    with (
        patch.dict(os.environ, DASK_CONFIG=settings),
        dask.config.set(dask.config.merge(dask.config.config, dask.config.collect([settings], {}))),
    ):
        cluster = BrokenCluster(folder, n_workers, **more)
        try:
            yield cluster
        finally:
            cluster.close()
