"""Tasks that another process starts: as those of this one, but copies of that."""

import contextlib
import os
import socket
import time
from collections.abc import Iterator

import pytest

from grader.sandbox import Channel, Ended, Limits, Supervisor, starting
from grader.sandbox.starting import Elsewhere, serve
from tests.unit.grader.sandbox.driven_clock import set_clock
from tests.unit.grader.sandbox.test_walls import pytestmark  # noqa: F401 (pytest reads it)

ONLY_HERE = bytearray(b"?")


def task(channel: Channel) -> None:
    """Do what is told: name a way to end, after a word and what lies in memory."""
    told = channel.wait()
    channel.send(told[:200] + bytes(ONLY_HERE))
    if told == b"sleep":
        time.sleep(60)
    if told == b"die":
        os._exit(9)


def start(supervisor: Supervisor, origin: Elsewhere, told: bytes = b"") -> int:
    """Start a task and tell it what to do."""
    number = supervisor.start(origin, held=True)
    supervisor.let_go(number, told, supervisor.limits.wall_seconds, lambda _: None)
    return number


@contextlib.contextmanager
def another_process() -> Iterator[Elsewhere]:
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            ONLY_HERE[:] = b"!"
            serve(theirs, task)
        finally:
            os._exit(0)
    theirs.close()
    with ours:
        yield Elsewhere(ours)
    os.waitpid(pid, 0)  # it ends with its connection


def all_ended(supervisor: Supervisor) -> dict[int, Ended]:
    ended: dict[int, Ended] = {}
    while supervisor.running:
        ended |= supervisor.poll()
    return ended


def test_tasks_end_as_they_would_here_and_are_copies_of_the_other_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = [b"", b"sleep", b"die", bytes(3 << 20), b"return"]
    with another_process() as elsewhere, Supervisor(Limits(wall_seconds=4)) as supervisor:
        # Time stands still until only the one that sleeps is left, and has said its word.
        left = supervisor._running
        set_clock(monkeypatch, lambda: 5.0 * any(len(left) == 1 == len(one.reader.messages)
                                                 for one in left.values()))  # fmt: skip
        numbers = [start(supervisor, elsewhere, some) for some in told]
        ended = all_ended(supervisor)
    statuses = [str(ended[number].status) for number in numbers]
    assert statuses == ["finished", "timed out", "crashed", "finished", "finished"]
    said = [ended[number].messages for number in numbers]
    assert said == [(some[:200] + b"!",) for some in told]
    assert ended[numbers[2]].code == 9
    assert ended[numbers[0]].cpu_seconds > 0
    assert ended[numbers[0]].max_rss_bytes > 1 << 20


@pytest.mark.parametrize("pidfds", [True, False])
def test_no_end_is_missed_however_many_come_together(
    pidfds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not pidfds:
        monkeypatch.setattr(starting, "pidfd_of", lambda _pid: None)
    with another_process() as origin, Supervisor(Limits(wall_seconds=60)) as supervisor:
        for _ in range(6):
            for _ in range(4):
                start(supervisor, origin)
            assert {str(end.status) for end in all_ended(supervisor).values()} == {"finished"}


def test_tasks_end_with_their_watcher() -> None:
    supervisor = Supervisor(Limits(wall_seconds=60))
    with another_process() as elsewhere:
        number = start(supervisor, elsewhere, b"sleep")
        assert supervisor.poll(timeout=0.5) == {}
    running = supervisor._running.pop(number)
    descriptor = running.process.descriptor
    assert descriptor is None or starting.readable(descriptor)
    running.release()


class KilledAfterOneCall(socket.socket):
    """A connection whose process is gone before its second call that would send something."""

    def sendall(self, data: object, *_flags: int) -> None:
        assert not data, "it is dead already"


def test_who_is_killed_after_one_call_has_sent_a_whole_value_and_not_its_length_alone():
    ours, theirs = socket.socketpair()
    with KilledAfterOneCall(fileno=ours.detach()) as killed, theirs:
        starting.send(killed, {"asked": 7}, [killed.fileno()])
        value, (copied,) = starting.receive(theirs)
    os.close(copied)
    assert value == {"asked": 7}
