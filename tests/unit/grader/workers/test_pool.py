"""A pool keeps its watchers at work, and reads no further ahead than it has to."""

import contextlib
import errno
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from grader.sandbox import CannotIsolate, Ended, Limits
from grader.sandbox.task import Ending
from grader.workers import forkserver
from grader.workers import pool as module
from grader.workers.pool import Job, Pool
from grader.workers.results import NotStarted
from tests.course.fork_servers import CANNOT_START, GIVES_UP, cannot_isolate, stands_still_once

FINISHED = Ended(Ending.FINISHED, 0, None, (), 0.0, 0.1, 0, "")


class Prompt:
    """Stands in for a watcher that has ended each job by the time one looks."""

    def __init__(self, **_how):
        self.results, self._end = os.pipe()
        self.job, self.heard = None, time.monotonic()

    def give(self, job, _file):
        self.job = job
        os.write(self._end, b".")

    def take(self):
        os.read(self.results, 1)
        job, self.job = self.job, None
        return job, FINISHED

    def close(self):
        os.close(self.results)
        os.close(self._end)


class Maker:
    """Stands in for a fork server."""

    def __init__(self, *_arguments, **_options):
        self.watcher = Prompt

    def close(self):
        """Nothing is to be ended."""


@pytest.fixture
def one_watcher(monkeypatch):
    monkeypatch.setattr(module, "ForkServer", Maker)
    with Pool(1, Limits()) as pool:
        yield pool


def read_from(read, count):
    """Jobs that are recorded as they are read."""
    for key in range(count):
        read.append(key)
        yield Job(key, b"[]")


def test_the_next_job_is_at_work_while_a_result_is_judged(one_watcher):
    results = one_watcher.run(read_from([], 3))
    at_work = [
        (key, job and job.key) for key, _ in results for job in [one_watcher._watchers[0].job]
    ]
    assert at_work == [(0, 1), (1, 2), (2, None)]


def test_one_job_and_no_more_is_read_ahead(one_watcher):
    read = []
    results = one_watcher.run(read_from(read, 9))
    assert next(results)[0] == 0
    assert read == [0, 1]
    assert next(results)[0] == 1
    assert read == [0, 1, 2]


def test_every_job_ends_once_whatever_is_read_ahead(one_watcher):
    assert [key for key, _ in one_watcher.run(read_from([], 7))] == list(range(7))


PRINTS = json.dumps([{"source": "print(1)", "exercise": "", "cases": []}]).encode()


def children_of(pid):
    """The ids of a process's children."""
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def finished(pool, count=2):
    return [end and end.status for _, end in sorted(pool.run(Job(n, PRINTS) for n in range(count)))]


def test_no_job_waits_behind_a_slow_one_while_a_watcher_is_free(tmp_path):
    others_are_done = tmp_path / "others are done"
    waits = (
        f"import os, time\\nwhile not os.path.exists({str(others_are_done)!r}): time.sleep(0.01)"
    )
    slow = PRINTS.replace(b"print(1)", waits.encode())
    with Pool(2, Limits(wall_seconds=600), isolate=False) as pool:
        results = pool.run(Job(n, PRINTS if n else slow) for n in range(4))
        assert [next(results)[0] for _ in range(3)] == [1, 2, 3]
        others_are_done.touch()
        assert [key for key, _ in results] == [0]


@pytest.mark.skipif(sys.platform != "linux", reason="a process's children are read from /proc")
def test_a_watcher_and_a_fork_server_that_were_killed_are_replaced():
    with Pool(1, Limits(), isolate=False) as pool:
        assert finished(pool) == ["finished"] * 2
        warm = pool.pid
        for child in children_of(warm):
            os.kill(child, signal.SIGKILL)
        assert finished(pool) == ["finished"] * 2
        assert pool.pid == warm
        os.kill(warm, signal.SIGKILL)
        assert finished(pool) == ["finished"] * 2
        assert pool.pid != warm


@pytest.mark.skipif(sys.platform != "linux", reason="a process's children are read from /proc")
def test_a_fork_server_that_was_killed_before_it_made_another_watcher_costs_no_job():
    with Pool(2, Limits(), isolate=False) as pool:
        results = pool.run(Job(n, PRINTS) for n in range(6))
        first = next(results)
        os.kill(pool.pid, signal.SIGSTOP)  # it does not hear that it is asked
        for child in children_of(pool.pid):
            os.kill(child, signal.SIGKILL)
        killer = threading.Timer(1.0, os.kill, (pool.pid, signal.SIGKILL))
        killer.start()
        found = [end and end.status for _, end in sorted([first, *results])]
        killer.join()
    assert found == ["finished"] * 6


def test_a_fork_server_that_was_killed_as_it_started_costs_no_job():
    with Pool(1, Limits(), isolate=False) as pool:
        os.kill(pool.pid, signal.SIGKILL)
        assert finished(pool) == ["finished"] * 2


def test_where_every_fork_server_is_killed_as_it_starts_that_is_told():
    killed = ("-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with (
        Pool(1, Limits(), program=killed) as pool,
        pytest.raises(NotStarted, match="is memory short"),
    ):
        next(pool.run([Job(0, PRINTS)]))


@pytest.mark.skipif(sys.platform != "linux", reason="watchers end with their fork server there")
@pytest.mark.parametrize("who", ["fork server", "watcher"])
def test_a_grading_process_that_stands_still_costs_no_job_and_is_told(
    who, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(module, "SILENT_SECONDS", -595.0)  # five seconds after a job began
    program = stands_still_once(who, tmp_path / "stood still")
    with Pool(8, Limits(wall_seconds=600.0), program=program) as pool:
        assert finished(pool, 9) == ["finished"] * 9
    assert "has stood still for 5 seconds" in capsys.readouterr().err


def test_where_fork_servers_give_up_that_is_told_before_every_job_is_lost_to_it():
    with (
        Pool(1, Limits(), program=GIVES_UP) as pool,
        pytest.raises(NotStarted, match=r"allow more \(ulimit -u\)"),
    ):
        list(pool.run(Job(n, PRINTS) for n in range(200)))


def test_what_a_terminal_sends_to_its_processes_reaches_no_grading_process():
    with Pool(1, Limits(), program=CANNOT_START) as pool:
        assert os.getpgid(pool.pid) != os.getpgid(0)


def test_a_server_that_has_ended_before_it_is_asked_for_watchers_is_told_as_one_that_cannot_start(
    monkeypatch,
):
    def ended(pool):
        server = new_server(pool)
        server._process.wait()
        return server

    new_server = Pool._new_server
    monkeypatch.setattr(Pool, "_new_server", ended)
    with (
        Pool(2, Limits(), program=CANNOT_START) as pool,
        pytest.raises(NotStarted, match="could not start"),
    ):
        next(pool.run([Job(0, PRINTS)]))


@pytest.mark.skipif(sys.platform != "linux", reason="a process's children are read from /proc")
def test_with_the_pool_everything_ends():
    with Pool(2, Limits(), isolate=False) as pool:
        finished(pool)
        processes = [pool.pid, *children_of(pool.pid)]
        assert len(processes) > 3, "a fork server, two watchers and a template"
    until = time.monotonic() + 600
    while (left := [p for p in processes if alive(p)]) and time.monotonic() < until:
        time.sleep(0.01)
    assert left == []


def alive(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_machine_that_cannot_isolate_is_told_to_everybody_who_asks():
    with Pool(2, Limits(), program=cannot_isolate("nothing here isolates")) as pool:
        for watcher in pool._watchers:
            with pytest.raises(CannotIsolate, match="nothing here isolates"):
                watcher.take()


def test_a_fork_server_that_can_make_no_process_says_so_without_a_traceback(monkeypatch):
    def serve(_pool, _supervisor):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    for name in ("warm_up", "taken_over", "Supervisor"):
        monkeypatch.setattr(forkserver, name, lambda *_, **__: None)
    monkeypatch.setattr(forkserver, "serve_pool", serve)
    with pytest.raises(SystemExit, match="Resource temporarily unavailable"):
        forkserver.main([])


def test_a_fork_server_that_cannot_start_is_told():
    with (
        Pool(1, Limits(), program=CANNOT_START) as pool,
        pytest.raises(NotStarted, match="could not start"),
    ):
        next(pool.run([Job(0, PRINTS)]))
