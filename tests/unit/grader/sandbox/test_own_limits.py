"""A task's hold on itself: it may ask for its limits, and neither set them nor kill itself."""

import contextlib
import os
import resource
import signal
import time

from grader.sandbox import Channel, Limits, Supervisor
from tests.unit.grader.sandbox.attacks_from_inside import without_namespaces
from tests.unit.grader.sandbox.test_limits import end_of
from tests.unit.grader.sandbox.test_walls import pytestmark  # noqa: F401 (pytest reads it)


def test_a_task_that_would_have_itself_killed_goes_on_in_any_namespace() -> None:
    def task(channel: Channel) -> None:
        with contextlib.suppress(ValueError):  # for Python, a limit that is refused
            resource.setrlimit(resource.RLIMIT_CPU, (0, 0))
        for kill in (os.kill, lambda _, number: signal.raise_signal(number)):
            with contextlib.suppress(PermissionError):
                kill(os.getpid(), signal.SIGKILL)
        end = time.process_time() + 1.5
        while time.process_time() < end:
            pass
        channel.send(b"alive")

    for kind in (Supervisor(), without_namespaces(Supervisor())):
        number = kind.start(task, Limits(wall_seconds=600))
        ended = kind.poll()[number]
        assert (ended.status, ended.messages) == ("finished", (b"alive",))


def test_a_task_may_ask_for_its_limits_and_cannot_set_them() -> None:
    def task(channel: Channel) -> None:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        channel.send(str(limit).encode())
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
        except ValueError as error:
            channel.send(type(error).__name__.encode())
        channel.send(str(resource.getrlimit(resource.RLIMIT_NOFILE) == limit).encode())

    ended = end_of(task, Limits(wall_seconds=600, open_files=33))
    assert ended.messages == (b"(33, 33)", b"ValueError", b"True")
