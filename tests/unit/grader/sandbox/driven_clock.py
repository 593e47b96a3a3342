"""The sandbox's clock in a test's hands: how fast the machine is decides nothing."""

import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from grader.sandbox import Channel, Ended, Limits, Supervisor
from grader.sandbox import supervisor as supervisor_module
from grader.sandbox import task as task_module

AMPLE = 600.0  # seconds for what ends by itself, however busy the machine is
SHORT = Limits(wall_seconds=0.4)


def set_clock(patch: pytest.MonkeyPatch, now: Callable[[], float]) -> None:
    """Put a test's own time in the place of the sandbox's."""
    clock = SimpleNamespace(monotonic=now, sleep=time.sleep)
    for module in (supervisor_module, task_module):
        patch.setattr(module, "time", clock)


def timed_out_after(
    messages: int, task: Callable[[Channel], None], limits: Limits = SHORT
) -> Ended:
    """Run a task whose time stands still until so many messages have come, and is over then."""
    with pytest.MonkeyPatch.context() as patch, Supervisor(limits) as supervisor:

        def now() -> float:
            have_come = all(
                len(running.reader.messages) >= messages for running in supervisor._running.values()
            )
            return (limits.wall_seconds + 1) * (have_come and bool(supervisor._running))

        set_clock(patch, now)
        number = supervisor.start(task)
        return supervisor.poll()[number]


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what a busy machine may take long to do; give up in the end."""
    until = time.monotonic() + AMPLE
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    assert holds()
