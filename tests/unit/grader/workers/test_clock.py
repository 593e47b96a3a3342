"""A step's clock: one thread watches many short steps, and each has the time that it is given."""

import subprocess
import sys

import pytest

from grader.workers import runner
from grader.workers.runner import GRACE_SECONDS, Clock


class Watch:
    """Stands in for faulthandler: notes what it is told."""

    def __init__(self) -> None:
        self.told: list[float | str] = []

    def dump_traceback_later(self, seconds: float, **_how: object) -> None:
        self.told.append(round(seconds, 1))

    def cancel_dump_traceback_later(self) -> None:
        self.told.append("cancelled")


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(runner, "faulthandler", watch)
    monkeypatch.setattr(Clock, "ends_at", 0.0)
    return watch


def run(*seconds: float) -> None:
    for each in seconds:
        with Clock(each):
            pass


def test_short_steps_share_a_thread(watch):
    run(*[15.0] * 50, 15.0 + GRACE_SECONDS / 3)
    assert watch.told == [15.0 + GRACE_SECONDS]


def test_a_step_with_more_or_less_time_gets_a_thread_of_its_own(watch):
    run(15.0, 10.0, 15.0)
    assert watch.told == [seconds + GRACE_SECONDS for seconds in (15.0, 10.0, 15.0)]


def test_no_thread_ends_the_process_between_steps(watch):
    run(1.0, 1.0)
    assert watch.told == [1.0 + GRACE_SECONDS, "cancelled"] * 2


def test_a_step_does_without_a_thread_where_none_is_left(watch, monkeypatch):
    """Other tasks of a user may have taken all: their neighbour must not lose its cells by that."""

    def refuse(seconds: float, **_how: object) -> None:
        watch.told.append("refused")
        raise RuntimeError("unable to start watchdog thread")

    usual = watch.dump_traceback_later
    monkeypatch.setattr(watch, "dump_traceback_later", refuse)
    run(15.0)
    monkeypatch.setattr(watch, "dump_traceback_later", usual)
    run(15.0)
    assert watch.told == ["refused", "cancelled", 15.0 + GRACE_SECONDS]


STUBBORN = """
import time
from grader.workers.runner import Clock
with Clock(0.6):
    pass
with Clock(0.5):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
"""


def test_a_step_that_catches_everything_ends_with_its_process():
    done = subprocess.run(
        [sys.executable, "-c", STUBBORN], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "Timeout (0:" in done.stderr
    assert "line 9 in <module>" in done.stderr
