"""A job's tries share its time, and the one that came farthest counts."""

import io
import json
import time
from types import SimpleNamespace

import pytest

from grader.sandbox import Ended, Limits
from grader.workers import watcher
from grader.workers.progress import Event, What, events
from grader.workers.resuming import Losses
from grader.workers.watcher import LEAST_SECONDS, let_go, rest_of

STEPS = json.dumps([{"source": "a = 1", "exercise": "", "cases": []}] * 5).encode()


def ended(status: str, seconds: float, *began: int) -> Ended:
    messages = tuple(Event(What.BEGAN, step).message() for step in began)
    return Ended(status, 0, None, messages, 0.1, seconds, 0, "")


def stopped(told: Ended) -> list[Event]:
    return [event for event in events(told.messages) if event.what == What.STOPPED]


def test_a_crash_is_tried_again_in_full_once_then_without_the_step_it_was_at():
    lost = Losses()
    assert lost.go_on(STEPS, ended("crashed", 1.5, 0, 1), 20) == STEPS
    again = json.loads(lost.go_on(STEPS, ended("crashed", 1.5, 0, 1), 20))
    assert [step["source"] for step in again] == ["a = 1", "", "a = 1", "a = 1", "a = 1"]
    assert lost.seconds == 3.0


@pytest.mark.parametrize("status", ["crashed", "timed out"])
def test_a_job_that_has_used_up_its_time_is_not_tried_again(status):
    lost = Losses()
    assert lost.go_on(STEPS, ended(status, 20.5, 0), 20) is None


def test_time_adds_up_over_tries():
    lost = Losses()
    assert lost.go_on(STEPS, ended("timed out", 9, 0), 20) is not None
    assert lost.go_on(STEPS, ended("timed out", 9, 0, 1), 20) is not None
    assert lost.go_on(STEPS, ended("timed out", 9, 0, 1, 2), 20) is None


def test_a_worker_that_died_costs_its_job_no_time():
    lost = Losses()
    assert lost.go_on(STEPS, None, 20) == STEPS
    assert lost.seconds == 0
    assert lost.go_on(STEPS, None, 20) is None


@pytest.mark.parametrize("reached", [(0, 1), (0,), ()])
def test_the_try_that_came_farthest_counts_if_the_last_ran_out_of_time(reached):
    lost = Losses()
    first, last = ended("timed out", 15, 0, 1, 2, 3), ended("timed out", 5, *reached)
    lost.go_on(STEPS, first, 20)
    lost.go_on(STEPS, last, 20)
    told = lost.told_with(last)
    assert told.messages[:4] == first.messages
    assert [event.step for event in stopped(told)] == [3]  # where the clock ran out is not to blame
    assert told.wall_seconds == 20
    finished = ended("finished", 5, 0, 1)
    assert lost.told_with(finished).messages[:2] == finished.messages


def test_where_the_only_try_ended_is_told():
    lost = Losses()
    only = ended("timed out", 20, 0, 1)
    assert lost.go_on(STEPS, only, 20) is None
    assert [event.step for event in stopped(lost.told_with(only))] == [1]


class Told:
    """Stands in for a supervisor: notes what it is asked for."""

    limits = Limits(wall_seconds=2000)

    def __init__(self):
        self.let = []

    def let_go(self, task, message, seconds):
        self.let.append((task, float(message), seconds))


def test_a_process_has_only_the_time_that_earlier_tries_left():
    supervisor = Told()
    let_go(supervisor, 3, time.monotonic() - 1950)
    ((task, said, seconds),) = supervisor.let
    assert task == 3
    assert 0 < seconds <= 50
    assert said == pytest.approx(seconds, abs=1e-5)


def test_the_time_of_earlier_tries_stands_before_a_jobs_name(monkeypatch):
    told = []

    def trial_runs(_supervisor, _templates, job, began):
        told.append(f"{job} {time.monotonic() - began:.0f}")
        return iter(())

    monkeypatch.setattr(watcher, "trial_runs", trial_runs)
    supervisor = SimpleNamespace(close=lambda: None)
    watcher.do_jobs(supervisor, None, [b"1950.000000 /a job\n"], io.BytesIO())
    assert told == ["/a job 1950"]


def test_what_a_job_has_spent_is_taken_from_its_next_process():
    limits = Limits(wall_seconds=20)
    assert rest_of(limits, 12.5).wall_seconds == 7.5
    assert rest_of(limits, 25).wall_seconds == LEAST_SECONDS
