"""Processes that wait for a submission: used once, for what they are for, while they live."""

import os
import select
from types import SimpleNamespace

import pytest

from grader.sandbox import Channel, Limits, Supervisor
from grader.workers.job_files import write_job
from grader.workers.progress import Event, What
from grader.workers.spares import Spares
from grader.workers.watcher import trial_runs
from tests.unit.grader.sandbox.test_walls import pytestmark  # noqa: F401 (pytest reads it)

SOFTMAX, ATTEND = ("stable_softmax",), ("attend",)


class Kinds:
    """Stands in for templates: its processes say what they are for, and what they are told."""

    def of(self, asked):
        def task(channel: Channel) -> None:
            told = channel.wait()
            if told == b"die":
                os._exit(9)
            channel.send(asked[0].encode() + b" " + told)

        return task


class Counting(Supervisor):
    """Counts what it is asked to start."""

    n_started = 0

    def ask_for(self, *arguments, **named):
        self.n_started += 1
        return super().ask_for(*arguments, **named)


@pytest.fixture
def spares():
    with Counting(Limits(wall_seconds=30)) as supervisor:
        yield Spares(supervisor, Kinds())


def said(spares, task, told=b"go"):
    spares.supervisor.let_go(task, told, 30.0, lambda _: None)
    return spares.wait_for(task).messages


def test_a_process_that_waits_is_taken_for_what_it_was_made_for_and_only_once(spares):
    spares.make_ready([SOFTMAX, ATTEND])
    assert spares.supervisor.n_started == 2
    first = spares.take(ATTEND)
    assert spares.supervisor.n_started == 2
    assert said(spares, first) == (b"attend go",)
    second = spares.take(ATTEND)
    assert spares.supervisor.n_started == 3
    assert said(spares, second) == (b"attend go",)
    assert said(spares, spares.take(SOFTMAX)) == (b"stable_softmax go",)
    assert spares.supervisor.n_started == 3


def test_none_is_made_where_one_waits(spares):
    spares.make_ready([SOFTMAX])
    spares.make_ready([SOFTMAX])
    assert spares.supervisor.n_started == 1


def test_one_that_died_while_it_waited_is_not_taken(spares):
    spares.make_ready([SOFTMAX])
    waiting = spares.take(SOFTMAX)
    spares.give_back([SOFTMAX], [waiting])
    spares.supervisor.let_go(waiting, b"die", 30.0, lambda _: None)  # as if the machine killed it
    other = spares.take(ATTEND)
    assert said(spares, other) == (b"attend go",)
    if running := spares.supervisor._running.get(waiting):
        assert select.select([running.process.descriptor], [], [], 30)[0], "it has not ended"
    taken = spares.take(SOFTMAX)
    assert taken != waiting
    assert said(spares, taken) == (b"stable_softmax go",)


def test_what_waits_for_other_exercises_ends_when_a_job_needs_room(spares):
    spares.make_ready([SOFTMAX, ATTEND])
    spares.make_room([ATTEND, SOFTMAX])
    first = spares.take(SOFTMAX)
    spares.give_back([SOFTMAX], [first])
    assert spares.supervisor.running == 1
    spares.make_room([ATTEND])
    assert spares.supervisor.running == 0
    assert spares.supervisor.n_started == 2
    assert spares.take(SOFTMAX) != first
    assert said(spares, spares.take(ATTEND)) == (b"attend go",)


def test_what_was_not_needed_waits_on(spares):
    task = spares.take(SOFTMAX)
    spares.give_back([SOFTMAX], [task])
    assert spares.take(SOFTMAX) == task


@pytest.mark.parametrize("lack", ["a root of its own", "a count of its own"])
def test_nothing_waits_where_a_waiting_process_could_leave_something_or_be_miscounted(
    spares, lack, monkeypatch
):
    without = {"mount"} if lack == "a root of its own" else {"user"}
    walls = SimpleNamespace(
        namespaces=frozenset({"mount", "user"} - without),
        drop_root=lack == "a root of its own",
    )
    real = spares.supervisor.walls
    monkeypatch.setattr(spares.supervisor, "walls", walls)
    spares.make_ready([SOFTMAX])
    assert spares.supervisor.n_started == 0
    monkeypatch.setattr(spares.supervisor, "walls", real)
    task = spares.take(SOFTMAX)
    monkeypatch.setattr(spares.supervisor, "walls", walls)
    spares.give_back([SOFTMAX], [task])
    assert spares.supervisor.running == 0


def test_a_machine_that_has_no_room_makes_none_ready_and_stops_nobody(spares, monkeypatch):
    def full(*_arguments, **_named):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(spares.supervisor, "ask_for", full)
    spares.make_ready([SOFTMAX, ATTEND])


def test_the_processes_of_the_next_job_are_made_while_a_job_is_at_work(tmp_path):
    class Done:
        def of(self, _asked):
            def task(channel: Channel) -> None:
                channel.wait()
                channel.send(Event(What.DONE).message())

            return task

    write_job(tmp_path / "job", b"[]", b"seed")
    with Counting(Limits(wall_seconds=30)) as supervisor:
        spares = Spares(supervisor, Done())
        made = []
        for _ in range(3):
            (run,) = trial_runs(spares, tmp_path / "job", 0.0)
            assert str(run.ended.status) == "finished"
            made.append(supervisor.n_started)
    assert made == [2, 3, 4]
