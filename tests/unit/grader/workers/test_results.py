"""Results on their way to the judging process."""

import os
import selectors

from grader.sandbox import Ended, Limits
from grader.workers.pool import ForkServer
from grader.workers.results import TrialRun, read_result, write_result


def test_a_second_result_that_came_with_the_first_can_still_be_waited_for():
    small = TrialRun(Ended("finished", 0, None, (b"m",), 1.0, 2.0, 3, ""), (), more=False)
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as results, os.fdopen(reading, "rb", buffering=0) as pipe:
        write_result(results, small)
        write_result(results, small)
        assert read_result(pipe) == small
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            assert selector.select(timeout=1)
        assert read_result(pipe) == small


def test_the_pool_reads_a_fork_server_without_a_buffer(monkeypatch):
    seen = {}

    class Process:
        stdin = stdout = None
        pid = 1

    monkeypatch.setattr(
        "grader.workers.pool.subprocess.Popen",
        lambda *_, **options: seen.update(options) or Process(),
    )
    ForkServer(Limits(), isolate=False, program=())
    assert seen["bufsize"] == 0
