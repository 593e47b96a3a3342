"""A job's tries share its time, and the one that came farthest counts."""

import io
import json
import signal
from dataclasses import replace
from types import SimpleNamespace

import pytest

from grader.sandbox import Ended, Limits
from grader.sandbox.note import NOTHING
from grader.workers import watcher
from grader.workers.job_files import write_job
from grader.workers.progress import Event, What, events, is_killed
from grader.workers.protocol import Message, encode
from grader.workers.results import TrialRun, as_one
from grader.workers.resuming import Losses
from grader.workers.trials import Server
from grader.workers.watcher import LEAST_SECONDS, let_go, rest_of, trial_run
from utils.checks.observation import Observation

STEPS = json.dumps([{"source": "a = 1", "exercise": "", "cases": []}] * 5).encode()


def ended(status: str, seconds: float, reached: int = -1, code: int = 1) -> Ended:
    """An end at a step; every step before it was a cell that failed, and told so."""
    messages = tuple(Event(What.FAILED, step).message() for step in range(reached))
    at = (reached, 0) if reached >= 0 else NOTHING
    return Ended(status, code, None, messages, 0.1, seconds, 0, "", at)


def stopped(told: Ended) -> list[Event]:
    return [event for event in events(told.messages) if event.what == What.STOPPED]


def test_a_crash_is_tried_again_in_full_once_then_without_the_step_it_was_at():
    lost = Losses()
    assert lost.go_on(STEPS, ended("crashed", 1.5, 1), 20) == STEPS
    again = json.loads(lost.go_on(STEPS, ended("crashed", 1.5, 1), 20))
    assert [step["source"] for step in again] == ["a = 1", "", "a = 1", "a = 1", "a = 1"]
    assert lost.seconds == 3.0


def test_a_process_that_ended_itself_as_if_done_is_taken_up_again_at_once_without_that_step():
    again = json.loads(Losses().go_on(STEPS, ended("crashed", 1.5, 1, code=0), 20))
    assert [step["source"] for step in again] == ["a = 1", "", "a = 1", "a = 1", "a = 1"]


@pytest.mark.parametrize("status", ["crashed", "timed out"])
def test_a_job_that_has_used_up_its_time_is_not_tried_again(status):
    lost = Losses()
    assert lost.go_on(STEPS, ended(status, 20.5, 0), 20) is None


def test_time_adds_up_over_tries():
    lost = Losses()
    assert lost.go_on(STEPS, ended("timed out", 9, 0), 20) is not None
    assert lost.go_on(STEPS, ended("timed out", 9, 1), 20) is not None
    assert lost.go_on(STEPS, ended("timed out", 9, 2), 20) is None


def test_a_worker_that_died_costs_its_job_no_time():
    lost = Losses()
    assert [lost.go_on(STEPS, None, 20) for _ in range(4)] == [STEPS] * 3 + [None]
    assert lost.seconds == 0


def test_a_process_that_was_killed_has_more_chances_than_one_that_ended_itself():
    lost = Losses()
    killed = replace(ended("crashed", 1.5, 1), code=None, signal=signal.SIGKILL)
    tried = [lost.go_on(STEPS, killed, 20) for _ in range(4)]
    assert tried[:3] == [STEPS] * 3
    assert tried[3] != STEPS  # without the step that it was at


@pytest.mark.parametrize("status", ["timed out", "crashed", "finished"])
def test_a_try_in_which_the_machine_stood_still_is_made_again_and_takes_no_time(status):
    lost = Losses()
    still = replace(ended(status, 59, 1), still_seconds=70.0)
    if status == "finished":  # but for a step that its own clock stopped
        still = replace(still, messages=(Event(What.STOPPED, 1).message(),), reached=NOTHING)
    assert [lost.go_on(STEPS, still, 60) for _ in range(3)] == [STEPS] * 3
    assert lost.seconds == 0
    assert lost.go_on(STEPS, still, 60) != STEPS  # a machine that does so for ever


def test_a_try_that_came_to_its_end_although_the_machine_stood_still_counts():
    whole = replace(ended("finished", 1), still_seconds=70.0)
    assert Losses().go_on(STEPS, whole, 60) is None


def test_what_our_own_limits_stopped_is_not_told_as_killed_by_others():
    lost = Losses()
    lost.go_on(STEPS, ended("crashed", 1, 1, code=0), 20)
    ours = replace(ended("timed out", 19, 3), code=None, signal=signal.SIGKILL)
    assert lost.go_on(STEPS, ours, 20) is None
    assert not is_killed(lost.told_with(ours))


@pytest.mark.parametrize("reached", [2, 1, 0, -1])
def test_the_try_that_came_farthest_counts_if_the_last_ran_out_of_time(reached):
    lost = Losses()
    first, last = ended("timed out", 15, 3), ended("timed out", 5, reached)
    lost.go_on(STEPS, first, 20)
    lost.go_on(STEPS, last, 20)
    told = lost.told_with(last)
    assert told.messages[:3] == first.messages
    assert [event.step for event in stopped(told)] == [3]  # where the clock ran out is not to blame
    assert told.wall_seconds == 20
    finished = ended("finished", 5, 1)
    assert lost.told_with(finished).messages[:1] == finished.messages


def test_of_tries_that_sent_nothing_the_one_that_noted_a_later_step_counts():
    lost = Losses()
    tries = [replace(ended("timed out", 10, step), messages=()) for step in (3, 1)]
    for one in tries:
        lost.go_on(STEPS, one, 20)
    assert [event.step for event in stopped(lost.told_with(tries[-1]))] == [3]


def test_where_the_only_try_ended_is_told():
    lost = Losses()
    only = ended("timed out", 20, 1)
    assert lost.go_on(STEPS, only, 20) is None
    assert [event.step for event in stopped(lost.told_with(only))] == [1]


@pytest.mark.parametrize("done", [True, False])
def test_a_process_that_came_to_its_end_leaves_no_note(done):
    server = Server([{"source": "a = 1", "exercise": "", "cases": 0}])
    server.reply(Event(What.DONE if done else What.FAILED).message())
    run = trial_run(server, ended("crashed", 1, 0))
    assert run.ended.reached == (NOTHING if done else (0, 0))


def test_what_stopped_one_process_is_left_out_though_another_came_to_its_end():
    first = replace(ended("finished", 1), messages=(Event(What.DONE).message(),))
    both = as_one([TrialRun(first, (), True), TrialRun(ended("crashed", 1, 3), (), False)])
    lost = Losses()
    lost.go_on(STEPS, both, 20)
    again = json.loads(lost.go_on(STEPS, both, 20))
    assert [step["source"] for step in again] == ["a = 1", "a = 1", "a = 1", "", "a = 1"]


class Told:
    """Stands in for a supervisor: notes what it is asked for."""

    limits = Limits(wall_seconds=2000)

    def __init__(self):
        self.let = []

    def let_go(self, task, message, seconds, answer, last):
        self.let.append((task, json.loads(message), seconds, answer, last))


def test_a_process_has_only_the_time_that_earlier_tries_left():
    supervisor, server = Told(), Server(json.loads(STEPS))
    let_go(supervisor, 3, server, 1950)
    ((task, (said, steps), seconds, answer, last),) = supervisor.let
    assert (task, steps, answer) == (3, server.steps, server.reply)
    assert last
    assert Event(What.DONE).message().startswith(last)
    assert 0 < seconds <= 50
    assert said == seconds


def test_the_time_of_earlier_tries_stands_before_a_jobs_name(monkeypatch):
    told = []

    def trial_runs(_supervisor, _origin, job, spent):
        told.append(f"{job} {spent:.0f}")
        return iter(())

    monkeypatch.setattr(watcher, "trial_runs", trial_runs)
    watcher.do_jobs(None, None, [b"1950.000000 /a job\n"], io.BytesIO())
    assert told == ["/a job 1950"]


class Slow(Told):
    """A supervisor on a clock of its own: a process takes 500 seconds to make, and 30 to run."""

    now = 0.0

    def start(self, _origin, *, held):
        assert held
        self.now += 500
        return len(self.let)

    def poll(self):
        self.now += 30
        return {0: ended("finished", 1)}


def test_no_time_runs_for_a_job_while_its_processes_are_made(monkeypatch, tmp_path):
    supervisor = Slow()
    monkeypatch.setattr(watcher, "time", SimpleNamespace(monotonic=lambda: supervisor.now))
    monkeypatch.setattr(watcher, "runs_of", lambda _steps: 3)
    write_job(tmp_path / "job", b"[]", b"seed")
    verdict = encode(Message("test_attention", 0, Observation({"your test": "accepts"})))
    monkeypatch.setattr(Server, "verdicts", lambda _server: [verdict])
    assert len(list(watcher.trial_runs(supervisor, None, tmp_path / "job", 7.0))) == 3
    assert [seconds for _, _, seconds, _, _ in supervisor.let] == [1993, 1963, 1933]


def test_what_a_job_has_spent_is_taken_from_its_next_process():
    limits = Limits(wall_seconds=20)
    assert rest_of(limits, 12.5).wall_seconds == 7.5
    assert rest_of(limits, 25).wall_seconds == LEAST_SECONDS
