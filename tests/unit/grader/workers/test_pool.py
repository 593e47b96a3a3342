"""A pool keeps its fork servers at work, and reads no further ahead than it has to."""

import os

import pytest

from grader.sandbox import Ended, Limits
from grader.sandbox.task import Ending
from grader.workers import pool as module
from grader.workers.pool import Job, Pool

FINISHED = Ended(Ending.FINISHED, 0, None, (), 0.0, 0.1, 0, "")


class Prompt:
    """Stands in for a fork server that has ended each job by the time one looks."""

    pid = 0

    def __init__(self, *_arguments, **_options):
        self.results, self._end = os.pipe()
        self.job = None

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


@pytest.fixture
def one_server(monkeypatch):
    monkeypatch.setattr(module, "ForkServer", Prompt)
    with Pool(1, Limits()) as pool:
        yield pool


def read_from(read, count):
    """Jobs that are recorded as they are read."""
    for key in range(count):
        read.append(key)
        yield Job(key, b"[]")


def test_the_next_job_is_at_work_while_a_result_is_judged(one_server):
    results = one_server.run(read_from([], 3))
    at_work = [(key, job and job.key) for key, _ in results for job in [one_server._servers[0].job]]
    assert at_work == [(0, 1), (1, 2), (2, None)]


def test_one_job_and_no_more_is_read_ahead(one_server):
    read = []
    results = one_server.run(read_from(read, 9))
    assert next(results)[0] == 0
    assert read == [0, 1]
    assert next(results)[0] == 1
    assert read == [0, 1, 2]


def test_every_job_ends_once_whatever_is_read_ahead(one_server):
    assert [key for key, _ in one_server.run(read_from([], 7))] == list(range(7))
