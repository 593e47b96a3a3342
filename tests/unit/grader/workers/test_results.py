"""Results on their way to the judging process."""

import io
import os
import selectors
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.sandbox import Ended
from grader.workers import results as module
from grader.workers.job_files import job_line, read_line
from grader.workers.pool import Watcher
from grader.workers.results import TrialRun, as_one, read_result, write_result


def test_a_second_result_that_came_with_the_first_can_still_be_waited_for():
    small = TrialRun(Ended("finished", 0, None, (b"m",), 1.0, 2.0, 3, ""), (), more=False)
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as results, os.fdopen(reading, "rb", buffering=0) as pipe:
        write_result(results, small)
        write_result(results, small)
        assert read_result(pipe) == small
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            assert selector.select(timeout=600)
        assert read_result(pipe) == small


def test_a_job_stood_still_if_one_of_its_runs_did():
    one = Ended("finished", 0, None, (b"m",), 1.0, 2.0, 3, "")
    runs = [TrialRun(end, (), more=False) for end in (one, replace(one, still_seconds=70.0))]
    assert as_one(runs).still_seconds == 70.0


def test_a_result_that_stops_in_the_middle_is_none(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAUSE", 10)
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", buffering=0) as results, os.fdopen(reading, "rb", 0) as pipe:
        results.write(module.RESULT_LENGTH.pack(7) + b"begun")
        assert read_result(pipe) is None


@pytest.mark.parametrize("name", ["a job", "new\nline", "per%20cent", "\udcff"])
def test_a_jobs_line_leads_to_its_file_whatever_its_folder_is_called(name):
    (line,) = io.BytesIO(job_line(1.5, Path("/jobs") / name)).readlines()
    assert read_line(line) == (1.5, Path("/jobs") / name)


def test_a_watchers_results_are_read_without_a_buffer():
    (jobs, ours), (results, theirs) = os.pipe(), os.pipe()
    watcher = Watcher(ours, results, SimpleNamespace(worked=False))
    assert isinstance(watcher.results, io.RawIOBase)
    watcher.close()
    os.close(jobs)
    os.close(theirs)
