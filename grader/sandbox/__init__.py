"""Run untrusted code so that it can harm only itself. Nothing here knows about notebooks.

with Supervisor(Limits(wall_seconds=20), readable=[folder]) as supervisor:
    supervisor.start(lambda channel: channel.send(b"some bytes"))
    for number, ended in supervisor.poll().items():
        print(number, ended.status, ended.messages)
"""

from collections.abc import Sequence
from pathlib import Path

from grader.sandbox.channel import Channel, Ending
from grader.sandbox.child import Task
from grader.sandbox.supervisor import Supervisor
from grader.sandbox.task import Ended
from grader.sandbox.walls.capabilities import (
    CannotIsolate,
    Capabilities,
    capabilities_here,
    require,
)
from grader.sandbox.walls.limits import Limits

__all__ = [
    "CannotIsolate",
    "Capabilities",
    "Channel",
    "Ended",
    "Ending",
    "Limits",
    "Supervisor",
    "Task",
    "capabilities_here",
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
    """Run one task and wait until it ends; the arguments are Supervisor's."""
    with Supervisor(limits, readable=readable, scratch=scratch, isolate=isolate) as supervisor:
        number = supervisor.start(task)
        return supervisor.poll()[number]
