"""Runs code that nobody vouches for, so that it can hurt only itself. Knows nothing of notebooks.

with Supervisor(Limits(wall_seconds=20), readable=[folder]) as supervisor:
    supervisor.start(lambda channel: channel.send(b"some bytes"))
    for number, ended in supervisor.poll().items():
        print(number, ended.status, ended.messages)
"""

from collections.abc import Sequence
from pathlib import Path

from grader.isolation.channel import Channel
from grader.isolation.child import Task
from grader.isolation.limits import Limits
from grader.isolation.machine import CannotIsolate, Capabilities, capabilities, require
from grader.isolation.running import Ended, Status
from grader.isolation.supervisor import Supervisor

__all__ = [
    "CannotIsolate",
    "Capabilities",
    "Channel",
    "Ended",
    "Limits",
    "Status",
    "Supervisor",
    "Task",
    "capabilities",
    "require",
    "run_isolated",
]


def run_isolated(
    task: Task,
    limits: Limits | None = None,
    *,
    readable: Sequence[Path] = (),
    scratch: Path | None = None,
    isolate: bool = True,
) -> Ended:
    """Run one task and wait for its end; the arguments are Supervisor's."""
    with Supervisor(limits, readable=readable, scratch=scratch, isolate=isolate) as supervisor:
        number = supervisor.start(task)
        return supervisor.poll()[number]
