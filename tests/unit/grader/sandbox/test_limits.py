"""Limits, ends and what is left behind, each shown by a task that goes too far."""

import contextlib
import ctypes
import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.sandbox import (
    Channel,
    Ended,
    Limits,
    Supervisor,
    run_isolated,
)
from grader.sandbox.walls.capabilities import capabilities_here
from tests.unit.grader.sandbox.attacks_from_inside import without_namespaces
from tests.unit.grader.sandbox.driven_clock import AMPLE, SHORT, timed_out_after, wait_until
from tests.unit.grader.sandbox.test_walls import pytestmark  # noqa: F401 (pytest reads it)


def end_of(task: Callable[[Channel], None], limits: Limits | None = None) -> Ended:
    return run_isolated(task, limits or Limits(wall_seconds=AMPLE))


@contextlib.contextmanager
def one_thread_more() -> Iterator[None]:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def marked_processes(mark: str) -> list[str]:
    """Processes, of whatever user and namespace, whose name is `mark`."""
    found = []
    for name in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if name.read_text().strip() == mark:
                found.append(name.parent.name)
    return found


def mark_process(mark: str) -> None:
    ctypes.CDLL(None).prctl(15, ctypes.c_char_p(mark.encode()), 0, 0, 0)


def needs_process_namespace() -> None:
    if "pid" not in capabilities_here().namespaces:
        pytest.skip("no process namespace here")


def test_a_task_that_returns_is_finished_and_measured() -> None:
    def task(channel: Channel) -> None:
        channel.send(b"one")
        channel.send(b"")
        channel.send(bytes(300_000))

    ended = end_of(task)
    assert (ended.status, ended.code, ended.signal) == ("finished", 0, None)
    assert ended.messages == (b"one", b"", bytes(300_000))
    assert 0 < ended.cpu_seconds <= ended.wall_seconds * 2
    assert ended.max_rss_bytes > 1 << 20


@pytest.mark.parametrize("late", [0.0, 3 * SHORT.wall_seconds])  # as on a busy machine
def test_a_task_that_sleeps_too_long_is_timed_out_and_keeps_its_messages(late: float) -> None:
    def task(channel: Channel) -> None:
        time.sleep(late)
        channel.send(b"early")
        time.sleep(60)

    ended = timed_out_after(1, task)
    assert (ended.status, ended.messages) == ("timed out", (b"early",))
    assert ended.wall_seconds >= 0.4


def test_a_task_that_ignores_every_signal_is_timed_out() -> None:
    def task(_channel: Channel) -> None:
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError):
                signal.signal(number, signal.SIG_IGN)
        time.sleep(60)

    assert end_of(task, SHORT).status == "timed out"


def test_a_task_that_spins_is_timed_out_by_its_processor_time() -> None:
    def task(_channel: Channel) -> None:
        while True:
            pass

    ended = end_of(task, Limits(wall_seconds=AMPLE, cpu_seconds=1))
    assert ended.status == "timed out"
    assert ended.signal == signal.SIGKILL
    assert ended.cpu_seconds > 0.5


def test_a_task_that_stops_itself_ends() -> None:
    def task(_channel: Channel) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    for kind in (Supervisor(SHORT), without_namespaces(Supervisor(SHORT))):
        # The first process of a namespace cannot be stopped from inside: it goes on.
        goes_on = "pid" in kind.walls.namespaces
        number = kind.start(task, Limits(wall_seconds=AMPLE) if goes_on else SHORT)
        assert kind.poll()[number].status == ("finished" if goes_on else "timed out")


def test_too_much_output_ends_the_task_and_keeps_what_came_before() -> None:
    def task(channel: Channel) -> None:
        for _ in range(100):
            channel.send(bytes(1000))

    ended = end_of(task, Limits(wall_seconds=AMPLE, result_bytes=10_000))
    assert (ended.status, ended.messages) == ("too much output", (bytes(1000),) * 9)


def test_too_many_messages_end_the_task() -> None:
    def task(channel: Channel) -> None:
        for _ in range(8):
            channel.send(b"")

    ended = end_of(task, Limits(wall_seconds=AMPLE, messages=7))
    assert (ended.status, ended.messages) == ("too much output", (b"",) * 7)


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (struct.pack("<I", 0xFFFFFFFF) + b"short", "too much output"),
        (struct.pack("<I", 5) + b"four", "garbled"),
        (b"\x01", "garbled"),
    ],
    ids=["a length beyond the limit", "half a message", "half a length"],
)
def test_garbage_on_the_channel_is_named_and_earlier_messages_stay(raw: bytes, status: str) -> None:
    def task(channel: Channel) -> None:
        channel.send(b"whole")
        os.write(channel.descriptor, raw)

    ended = end_of(task)
    assert (ended.status, ended.messages) == (status, (b"whole",))


def test_a_task_that_closes_its_channel_is_still_watched() -> None:
    def task(channel: Channel) -> None:
        channel.send(b"last words")
        os.close(channel.descriptor)
        time.sleep(60)

    ended = timed_out_after(1, task)
    assert (ended.status, ended.messages) == ("timed out", (b"last words",))


def test_an_exception_is_a_crash_with_its_text() -> None:
    def task(channel: Channel) -> None:
        channel.send(b"before")
        raise ValueError("a wrong turn")

    ended = end_of(task)
    assert (ended.status, ended.code, ended.messages) == ("crashed", 1, (b"before",))
    assert "ValueError: a wrong turn" in ended.stderr


@pytest.mark.parametrize("code", [0, 3])
def test_leaving_early_is_told_by_the_code(code: int) -> None:
    ended = end_of(lambda _channel: os._exit(code))
    assert (ended.status, ended.code) == ("crashed" if code else "finished", code)


def test_a_broken_pointer_is_a_crash_with_its_signal() -> None:
    ended = end_of(lambda _channel: ctypes.memset(0, 0, 1))
    assert (ended.status, ended.signal, ended.code) == ("crashed", signal.SIGSEGV, None)


def test_an_abort_is_a_crash() -> None:
    ended = end_of(lambda _channel: os.abort())
    assert ended.status == "crashed"
    assert ended.signal in {signal.SIGABRT, signal.SIGSEGV}


def test_the_memory_limit_counts_from_what_the_parent_has_mapped() -> None:
    def task(channel: Channel) -> None:
        kept = bytearray(40 << 20)
        channel.send(b"forty")
        with contextlib.suppress(MemoryError):
            kept += bytearray(40 << 20)
            channel.send(b"eighty")

    limits = Limits(wall_seconds=AMPLE, memory_bytes=64 << 20)
    assert end_of(task, limits).messages == (b"forty",)


@pytest.mark.parametrize("kind", ["all walls", "no namespaces"])
def test_the_private_folder_cannot_outgrow_its_limit(kind: str, tmp_path: Path) -> None:
    limits = Limits(wall_seconds=AMPLE, folder_bytes=4 << 20)
    made = Supervisor(limits, scratch=tmp_path)
    supervisor = without_namespaces(made) if kind == "no namespaces" else made

    def task(channel: Channel) -> None:
        for number in range(8):
            Path(f"{number}.bin").write_bytes(bytes(1 << 20))
        channel.send(b"eight")
        time.sleep(60)

    number = supervisor.start(task)
    ended = supervisor.poll()[number]
    in_memory = "mount" in supervisor.walls.namespaces
    assert ended.status == ("crashed" if in_memory else "too many files")
    assert not in_memory or ended.messages == ()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_its_task_broke_is_removed_and_links_are_not_followed(
    tmp_path: Path,
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    supervisor = without_namespaces(Supervisor(scratch=scratch))

    def task(_channel: Channel) -> None:
        Path("link").symlink_to(outside)
        Path("shut", "deeper").mkdir(parents=True)
        Path("shut", "file").write_text("x")
        Path("closed").mkdir(mode=0)

    number = supervisor.start(task)
    assert supervisor.poll()[number].status == "finished"
    assert list(scratch.iterdir()) == []
    assert (outside / "kept.txt").read_text() == "kept"


@pytest.mark.parametrize(("waits", "status"), [(0, "finished"), (60, "too many files")])
def test_folders_deeper_than_any_path_are_counted_and_removed(
    waits: int, status: str, tmp_path: Path
) -> None:
    supervisor = without_namespaces(Supervisor(Limits(wall_seconds=AMPLE), scratch=tmp_path))

    def task(_channel: Channel) -> None:
        for _ in range(3000):
            Path("d").mkdir(mode=0o700)
            os.chdir("d")
        time.sleep(waits)

    number = supervisor.start(task)
    assert supervisor.poll()[number].status in {status, "too many files"}
    assert list(tmp_path.iterdir()) == []


def test_a_task_that_removes_its_folder_hurts_nobody(tmp_path: Path) -> None:
    supervisor = without_namespaces(Supervisor(scratch=tmp_path))

    def task(channel: Channel) -> None:
        with contextlib.suppress(OSError):
            Path.cwd().rmdir()
        channel.send(b"done")

    number = supervisor.start(task)
    assert supervisor.poll()[number].messages == (b"done",)
    assert list(tmp_path.iterdir()) == []


def test_a_daemon_does_not_outlive_its_task() -> None:
    needs_process_namespace()
    mark = f"daemon{os.getpid()}"

    def task(channel: Channel) -> None:
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                os.setsid()
            if os.fork() == 0:
                mark_process(mark)
                channel.send(b"alive")
                time.sleep(60)
            os._exit(0)
        time.sleep(0.3)

    ended = end_of(task, Limits(wall_seconds=AMPLE, forks=True))
    assert (ended.status, ended.messages) == ("finished", (b"alive",))
    assert marked_processes(mark) == []


def test_a_fork_bomb_stays_within_its_number_and_is_gone_with_its_task() -> None:
    needs_process_namespace()
    mark = f"bomb{os.getpid()}"

    def task(channel: Channel) -> None:
        mark_process(mark)
        count = 0
        with contextlib.suppress(BlockingIOError):
            while count < 50:
                if os.fork() == 0:
                    time.sleep(60)
                count += 1
        channel.send(str(count).encode())

    ended = end_of(task, Limits(wall_seconds=AMPLE, forks=True, tasks=8))
    assert (ended.status, ended.messages) == ("finished", (b"7",))
    assert marked_processes(mark) == []


def test_what_a_killed_task_left_is_not_counted_against_the_next_one() -> None:
    needs_process_namespace()

    def hold_memory(channel: Channel) -> None:
        held = bytearray(100_000_000)  # the kernel takes a while to free it
        time.sleep(60 + len(held))

    def fork_six_times(channel: Channel) -> None:
        for _ in range(6):
            if os.fork() == 0:
                time.sleep(60)
        channel.send(b"six")

    with one_thread_more():  # a killed task is then not waited for to its very end
        for _ in range(5):
            end_of(hold_memory, Limits(wall_seconds=0.2, forks=True))
            ended = end_of(fork_six_times, Limits(wall_seconds=AMPLE, forks=True, tasks=7))
            assert (ended.status, ended.messages) == ("finished", (b"six",))


def test_a_task_that_is_killed_takes_its_children_with_it() -> None:
    needs_process_namespace()
    mark = f"child{os.getpid()}"

    def task(channel: Channel) -> None:
        if os.fork() == 0:
            mark_process(mark)
            channel.send(b"alive")
        time.sleep(60)

    ended = timed_out_after(1, task, Limits(wall_seconds=3, forks=True))
    assert (ended.status, ended.messages) == ("timed out", (b"alive",))
    wait_until(lambda: marked_processes(mark) == [])


@pytest.mark.parametrize("kind", ["all walls", "no namespaces"])
def test_a_task_dies_with_the_warm_process(kind: str, tmp_path: Path) -> None:
    mark = f"orphan{os.getpid()}"
    reading, writing = os.pipe()

    def sleep(channel: Channel) -> None:
        mark_process(mark)
        channel.send(b"")
        time.sleep(60)

    warm = os.fork()
    if warm == 0:
        supervisor = Supervisor(scratch=tmp_path)
        if kind == "no namespaces":
            without_namespaces(supervisor)
        supervisor.start(sleep)
        while not marked_processes(mark):
            time.sleep(0.01)
        os.write(writing, b"!")
        time.sleep(60)
    assert os.read(reading, 1) == b"!"
    os.kill(warm, signal.SIGKILL)
    os.waitpid(warm, 0)
    wait_until(lambda: marked_processes(mark) == [])


@pytest.mark.parametrize("name", ["wall_seconds", "memory_bytes", "tasks", "messages"])
def test_a_limit_of_zero_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})
