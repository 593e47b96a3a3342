"""Many tasks at once, odd parents, and machines that can do less."""

import ctypes
import dataclasses
import os
import select
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import IO

import pytest

from grader.sandbox import (
    CannotIsolate,
    Channel,
    Ended,
    Limits,
    Supervisor,
    capabilities_here,
    start,
)
from grader.sandbox import supervisor as supervisor_module
from grader.sandbox.walls import capabilities, seccomp
from tests.unit.grader.sandbox.driven_clock import AMPLE, SHORT, set_clock
from tests.unit.grader.sandbox.test_limits import end_of
from tests.unit.grader.sandbox.test_walls import pytestmark  # noqa: F401 (pytest reads it)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize(("seconds", "status"), [(100.0, "finished"), (4.5, "timed out")])
def test_time_in_which_the_machine_stood_still_is_not_the_tasks(monkeypatch, seconds, status):
    gone: list[float] = []
    usual = select.poll

    class StandingStill:
        """Waits as it should; meanwhile so much time goes by, once."""

        def __init__(self):
            self.register, self._wait = (events := usual()).register, events.poll

        def poll(self, timeout):
            found = self._wait(min(timeout or 0, 50))
            gone[:] = [seconds]
            return found

    set_clock(monkeypatch, lambda: sum(gone))
    monkeypatch.setattr(supervisor_module, "select", SimpleNamespace(poll=StandingStill, POLLIN=1))
    with Supervisor(Limits(wall_seconds=3)) as supervisor:
        number = supervisor.start(lambda _: time.sleep(0.1))
        ended = {}
        while number not in ended:
            ended |= supervisor.poll()
    assert ended[number].status == status
    assert ended[number].wall_seconds < 6
    assert ended[number].still_seconds == pytest.approx(100 if status == "finished" else 0, abs=2)


def test_many_tasks_run_at_once_and_each_is_told_apart() -> None:
    def task_of(number: int) -> Callable[[Channel], None]:
        def task(channel: Channel) -> None:
            channel.send(bytes([number]))
            if number == 3:
                time.sleep(60)
            if number == 4:
                os._exit(9)

        return task

    ample = {number: Limits(wall_seconds=AMPLE if number != 3 else 5) for number in range(6)}
    with Supervisor() as supervisor:
        numbers = {supervisor.start(task_of(n), limits): n for n, limits in ample.items()}
        ended: dict[int, Ended] = {}
        while supervisor.running:
            ended |= supervisor.poll()
    came = {numbers[key]: (end.status, end.messages) for key, end in ended.items()}
    assert came == {
        number: (
            {3: "timed out", 4: "crashed"}.get(number, "finished"),
            (bytes([number]),),
        )
        for number in range(6)
    }


def test_no_task_has_to_make_its_own_filter() -> None:
    def task(channel: Channel) -> None:
        channel.send(bytes([seccomp.program.cache_info().misses]))

    if "pid" not in capabilities_here().namespaces:
        pytest.skip("a filter names its own process where processes have no namespace")
    seccomp.program.cache_clear()
    assert end_of(task).messages == (b"\x01",)


@pytest.mark.parametrize("end", [lambda: os._exit(9), os.abort, int])
def test_what_a_task_noted_last_is_known_however_it_ends(end: Callable[[], None]) -> None:
    def task(channel: Channel) -> None:
        for number in range(4):
            channel.reached[:] = [number, -number]
        end()

    with Supervisor(Limits(wall_seconds=AMPLE)) as supervisor:
        supervisor.start(task)
        supervisor.start(lambda _channel: end())
        ended: dict[int, Ended] = {}
        while supervisor.running:
            ended |= supervisor.poll()
    assert [ended[number].reached for number in (0, 1)] == [(3, -3), (-1, -1)]


def test_poll_returns_empty_when_its_time_is_over() -> None:
    with Supervisor() as supervisor:
        assert supervisor.poll() == {}
        supervisor.start(lambda _channel: time.sleep(60))
        assert supervisor.poll(timeout=0.05) == {}
        assert supervisor.running == 1
    assert supervisor.running == 0


def test_a_parent_with_threads_can_start_tasks_too() -> None:
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    try:
        ended = end_of(lambda channel: channel.send(b"hello"))
        dead = end_of(lambda _channel: ctypes.memset(0, 0, 1))
        late = end_of(lambda _channel: time.sleep(60), SHORT)
    finally:
        over.set()
        other.join()
    assert (ended.status, ended.messages) == ("finished", (b"hello",))
    assert (dead.status, dead.signal) == ("crashed", signal.SIGSEGV)
    assert late.status == "timed out"


def test_no_descriptor_of_the_parent_is_used_up() -> None:
    with Supervisor(SHORT) as supervisor:
        supervisor.start(lambda _channel: None)
        supervisor.poll()
        before = open_descriptors()
        for _ in range(5):
            supervisor.start(lambda _channel: None)
            supervisor.poll()
        assert open_descriptors() == before


@pytest.mark.parametrize("nth", [1, 2], ids=["its first file", "its second file"])
def test_a_task_for_which_the_disk_is_full_leaves_nothing_behind(
    nth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def empty_file() -> IO[bytes]:
        made.append(nth)
        if len(made) == nth:
            raise OSError(28, "No space left on device")
        return tempfile.TemporaryFile(buffering=0)

    with Supervisor(Limits(), scratch=tmp_path) as supervisor:
        on_disk = dataclasses.replace(
            supervisor.walls, namespaces=supervisor.walls.namespaces - {"mount"}
        )
        supervisor.walls = on_disk
        monkeypatch.setattr(start, "empty_file", empty_file)
        before = open_descriptors()
        with pytest.raises(OSError, match="No space"):
            supervisor.start(lambda _: None)
        assert open_descriptors() == before
    assert not list(tmp_path.iterdir())


def test_a_task_without_its_walls_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    with Supervisor(readable=[tmp_path / "gone"]) as supervisor:
        (tmp_path / "gone").rmdir()
        number = supervisor.start(lambda channel: channel.send(b"I ran"))
        ended = supervisor.poll()[number]
    assert (ended.status, ended.messages) == ("not isolated", ())
    assert "No such file" in ended.stderr


def test_forks_without_a_process_namespace_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    less = dataclasses.replace(capabilities_here(), namespaces=frozenset(), missing=("Lack.",))
    monkeypatch.setattr(capabilities, "capabilities_here", lambda: less)
    with pytest.raises(CannotIsolate, match=r"(?s)process namespace.*Lack\..*--no-isolation"):
        Supervisor(Limits(forks=True))


def test_a_held_task_has_all_its_time_once_it_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def task(channel: Channel) -> None:
        channel.send(channel.wait())
        time.sleep(60)

    now = [0.0]
    set_clock(monkeypatch, lambda: now[0])
    with Supervisor(Limits(wall_seconds=0.2)) as supervisor:
        number = supervisor.start(task, held=True)
        now[0] = 3.0
        assert supervisor.poll(timeout=0.0) == {}  # no time runs for it
        supervisor.let_go(number, b"go", 2.0, lambda _: None)
        while not supervisor._running[number].reader.messages:
            assert supervisor.poll(timeout=0.0) == {}
        now[0] = 5.5
        ended = supervisor.poll()[number]
    assert (ended.status, ended.messages) == ("timed out", (b"go",))
    assert ended.wall_seconds >= 2.0


def test_a_held_task_that_dies_while_it_waits_has_used_no_time() -> None:
    def task(_channel: Channel) -> None:
        time.sleep(0.5)
        os._exit(9)  # in place of the kernel, which ends it when memory runs out

    with Supervisor(Limits(wall_seconds=0.2)) as supervisor:
        number = supervisor.start(task, held=True)
        ended = supervisor.poll()[number]
    assert (ended.status, ended.code, ended.wall_seconds) == ("crashed", 9, 0.0)


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def ended_at_its_last(task: Callable[[Channel], None]) -> tuple[Ended, int]:
    """End a task that is let go with `last` as the message that ends it; also its process."""
    with Supervisor(Limits(wall_seconds=AMPLE)) as supervisor:
        if "mount" not in supervisor.walls.namespaces:
            pytest.skip("a folder on disk has to outlive its task here")
        number = supervisor.start(task, held=True)
        pid = supervisor._running[number].process.pid
        supervisor.let_go(number, b"go", AMPLE, lambda _: None, last=b"last")
        ended = supervisor.poll()[number]
        assert supervisor.running == 0
    return ended, pid


def test_a_task_has_ended_with_its_last_message_though_it_runs_on_and_is_gone_in_the_end() -> None:
    def task(channel: Channel) -> None:
        for message in (b"first", b"last of all", b"too late"):
            channel.send(message)
        time.sleep(60)

    ended, pid = ended_at_its_last(task)
    assert (ended.status, ended.messages) == ("finished", (b"first", b"last of all"))
    assert ended.wall_seconds < AMPLE
    assert gone(pid)


def test_a_task_that_breaks_a_limit_before_its_last_message_has_broken_it() -> None:
    def task(channel: Channel) -> None:
        for number in range(Limits().messages):
            channel.send(bytes([number % 250]))
        channel.send(b"last")

    ended, pid = ended_at_its_last(task)
    assert ended.status == "too much output"
    assert gone(pid)


def test_no_descriptor_stays_open_for_what_ended_with_its_last_message() -> None:
    ended_at_its_last(lambda channel: channel.send(b"last"))
    before = open_descriptors()
    ended_at_its_last(lambda channel: channel.send(b"last"))
    assert open_descriptors() == before


def test_where_its_folder_is_on_disk_a_task_is_waited_for_after_its_last_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def task(channel: Channel) -> None:
        channel.send(channel.wait())
        time.sleep(0.2)  # and may still write into its folder, which is removed after it
        channel.send(b"the end")

    less = dataclasses.replace(capabilities_here(), namespaces=frozenset())
    monkeypatch.setattr(capabilities, "capabilities_here", lambda: less)
    with Supervisor(Limits(wall_seconds=AMPLE), scratch=tmp_path, isolate=False) as supervisor:
        number = supervisor.start(task, held=True)
        supervisor.let_go(number, b"last", AMPLE, lambda _: None, last=b"last")
        ended = supervisor.poll()[number]
    assert (ended.status, ended.messages) == ("finished", (b"last", b"the end"))
    assert not list(tmp_path.iterdir())


def test_a_task_that_asks_faster_than_it_is_answered_is_stopped_at_its_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def task(channel: Channel) -> None:
        while True:
            channel.send(b"?" * 1000)

    asked = [0]

    def answer(_message: bytes) -> bytes:
        asked[0] += 1
        return b""

    # Its time is over with its hundredth question; a few more may have been read with that.
    set_clock(monkeypatch, lambda: 1.0 * (asked[0] >= 100))
    with Supervisor(Limits(wall_seconds=0.3, question_bytes=1 << 30)) as supervisor:
        number = supervisor.start(task, answer=answer)
        assert supervisor.poll()[number].status == "timed out"
    assert asked[0] < 100_000


@pytest.mark.parametrize("size", [4096, 1 << 20])
def test_a_reply_arrives_whole_through_a_pipe_of_any_size(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def task(channel: Channel) -> None:
        for number in range(3):
            reply = channel.ask(bytes([number]))
            channel.send(b"%d" % (reply == bytes([number]) * 50_000))

    monkeypatch.setattr(start, "REPLY_BYTES", size)
    with Supervisor(Limits(wall_seconds=AMPLE)) as supervisor:
        supervisor.start(task, answer=lambda asked: asked * 50_000 if asked < b"0" else None)
        (ended,) = supervisor.poll().values()
    assert (ended.status, ended.messages) == ("finished", (b"1",) * 3)


@pytest.mark.parametrize(("most", "status"), [(20_000, "finished"), (3000, "too much output")])
def test_questions_that_were_answered_leave_room_for_results_up_to_a_limit_of_their_own(
    most: int, status: str
) -> None:
    def task(channel: Channel) -> None:
        for _ in range(10):
            channel.ask(b"?" * 1000)
        channel.send(b"seen")

    with Supervisor(
        Limits(wall_seconds=AMPLE, result_bytes=4000, question_bytes=most)
    ) as supervisor:
        supervisor.start(task, answer=lambda asked: b"" if asked.startswith(b"?") else None)
        (ended,) = supervisor.poll().values()
    assert (ended.status, ended.messages) == (status, (b"seen",) * (status == "finished"))


def test_a_task_that_takes_no_reply_is_stopped() -> None:
    def task(channel: Channel) -> None:
        while True:
            channel.send(b"?")

    with Supervisor(Limits(wall_seconds=AMPLE)) as supervisor:
        supervisor.start(task, answer=lambda _asked: bytes(50_000))
        (ended,) = supervisor.poll().values()
    assert ended.status == "garbled"


def test_a_task_that_ends_before_its_reply_comes_has_ended_by_itself() -> None:
    def task(channel: Channel) -> None:
        channel.send(b"?")
        channel.send(b"seen")

    def late(asked: bytes) -> bytes | None:
        if asked != b"?":
            return None
        time.sleep(0.3)
        return b"for nobody"

    with Supervisor(Limits(wall_seconds=AMPLE)) as supervisor:
        supervisor.start(task, answer=late)
        (ended,) = supervisor.poll().values()
    assert (ended.status, ended.messages) == ("finished", (b"seen",))
