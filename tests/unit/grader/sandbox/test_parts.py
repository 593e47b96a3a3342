"""The pieces of the isolation layer that need no other process: tables, filter, framing, texts."""

import errno
import os
import re
import struct
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.sandbox import CannotIsolate, Limits, note, require
from grader.sandbox.channel import MOST_LATER, READY, Channel, Reader
from grader.sandbox.walls import capabilities, seccomp, syscalls
from grader.sandbox.walls.interpreter import closed_to_others, outermost, view
from tests.unit.grader.sandbox import attacks_from_inside as attacks

HEADERS = {
    1: ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"),
    2: ("/usr/include/asm-generic/unistd.h",),
}
COLUMNS = pytest.mark.parametrize("column", [1, 2], ids=["x86-64", "aarch64"])
ALLOWED, REFUSED = "allowed", errno.EPERM


def header_numbers(column: int) -> dict[str, int]:
    """The kernel's own table, from its headers; skips the test where they are not installed."""
    for name in HEADERS[column]:
        if Path(name).exists():
            pattern = r"#define\s+__NR(?:3264)?_(\w+)\s+(\d+)"
            found = re.findall(pattern, Path(name).read_text())
            return {call: int(number) for call, number in found}
    pytest.skip("the kernel's headers are not installed")


@COLUMNS
def test_every_system_call_has_the_kernels_number(column: int) -> None:
    known = header_numbers(column)
    known.setdefault("newfstatat", known.get("fstatat", -1))
    tables = syscalls.HARMLESS + syscalls.JUDGED + syscalls.SHAMMED + syscalls.OURS
    ours = syscalls.numbers(tables, column)
    wrong = {name: n for name, n in ours.items() if name in known and known[name] != n}
    assert wrong == {}
    assert len(ours.keys() & known.keys()) >= len(ours) - 1


@COLUMNS
def test_the_numbers_in_the_attacks_are_the_kernels(column: int) -> None:
    known = header_numbers(column)
    named = {name: pair[column - 1] for name, pair in attacks.CALLS.items() if " " not in name}
    assert {name: known[name] for name in named} == named


@COLUMNS
def test_no_name_is_in_two_tables(column: int) -> None:
    tables = (syscalls.HARMLESS, syscalls.JUDGED, syscalls.SHAMMED, syscalls.OURS)
    names = [name for table in tables for name in syscalls.numbers(table, column)]
    assert len(names) == len(set(names))


def answer(program: bytes, machine_code: int, number: int, *given: int) -> int | str:
    """What a filter answers to a system call: an interpreter of classic BPF, for its subset."""
    arguments = (*given, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number, machine_code, 0, *arguments)
    code = list(struct.iter_unpack("<HBBI", program))
    place = value = 0
    while True:
        kind, if_true, if_false, k = code[place]
        place += 1
        if kind == 0x20:
            (value,) = struct.unpack_from("<I", data, k)
        elif kind == 0x54:
            value &= k
        elif kind == 0x06:
            return ALLOWED if k == 0x7FFF0000 else k & 0xFFFF
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[kind]
            place += if_true if holds else if_false


CODES = {1: 0xC000003E, 2: 0xC00000B7}


def ask(column: int, name: str, *given: int, forks: bool = False, pid: int | None = None) -> object:
    numbers = syscalls.numbers(syscalls.HARMLESS + syscalls.JUDGED + syscalls.SHAMMED, column)
    program = seccomp.program(forks, pid, column)
    return answer(program, CODES[column], numbers[name], *given)


@COLUMNS
def test_a_call_of_every_number_is_answered_as_the_tables_say(column: int) -> None:
    program = seccomp.program(False, None, column)
    judged = set(syscalls.numbers(syscalls.JUDGED, column).values())
    harmless = set(syscalls.numbers(syscalls.HARMLESS, column).values())
    shammed = set(syscalls.numbers(syscalls.SHAMMED, column).values())
    for number in {*range(600), 0x3FFFFFFF, 0xFFFFFFFF} - judged:
        expected = ALLOWED if number in harmless else 0 if number in shammed else REFUSED
        assert answer(program, CODES[column], number) == expected, number


@COLUMNS
@pytest.mark.parametrize("name", [name for name in attacks.CALLS if " " not in name])
def test_the_filter_refuses_what_no_task_needs(name: str, column: int) -> None:
    program = seccomp.program(False, None, column)
    assert answer(program, CODES[column], attacks.CALLS[name][column - 1]) == REFUSED


@COLUMNS
def test_the_filter_lets_threads_start_but_no_process_and_no_namespace(column: int) -> None:
    thread, process, namespace = 0x3D0F00, 0x1200011, 0x10000011
    assert ask(column, "clone", thread) == ALLOWED
    assert ask(column, "clone", process) == REFUSED
    assert ask(column, "clone", process, forks=True) == ALLOWED
    assert ask(column, "clone", thread | 0x20000) == REFUSED
    assert ask(column, "clone", namespace, forks=True) == REFUSED
    assert ask(column, "clone3", forks=True) == errno.ENOSYS


@COLUMNS
def test_the_filter_looks_at_arguments(column: int) -> None:
    assert ask(column, "kill", 77, pid=77) == ALLOWED
    assert ask(column, "kill", 1, pid=77) == REFUSED
    assert ask(column, "kill", 0xFFFFFFFF, pid=77) == REFUSED
    assert ask(column, "tgkill", 78, pid=77) == REFUSED
    assert ask(column, "socketpair", 1, 1 | 0o2004000) == ALLOWED
    assert ask(column, "socketpair", 1, 2) == REFUSED
    assert ask(column, "socketpair", 2, 1) == REFUSED
    assert ask(column, "ioctl", 0, 0x5401) == ALLOWED
    assert ask(column, "ioctl", 0, 0x5412) == REFUSED
    assert ask(column, "fchmod", 3) == 0
    assert ask(column, "read", 3) == ALLOWED


@COLUMNS
def test_limits_of_the_process_itself_may_be_asked_for(column: int) -> None:
    old = 0x7FFF_0000_1000
    assert ask(column, "getrlimit", 0, old) == ALLOWED
    assert ask(column, "prlimit64", 0, 0, 0, old) == ALLOWED
    assert ask(column, "prlimit64", 1, 0, 0, old) == REFUSED


@COLUMNS
@pytest.mark.parametrize("new", [1, 0x7FFF_0000_1000, 0x7FFF_0000_0000], ids=hex)
def test_new_limits_are_refused_wherever_they_lie_in_memory(new: int, column: int) -> None:
    assert ask(column, "prlimit64", 0, 0, new, 0) == REFUSED


@COLUMNS
def test_a_process_outside_a_namespace_may_stop_itself_but_not_kill_itself(column: int) -> None:
    interrupt, kill = 2, 9
    for number, allowed in ((interrupt, ALLOWED), (kill, REFUSED)):
        assert ask(column, "kill", 77, number, pid=77) == allowed
        assert ask(column, "kill", 0, number, pid=77) == allowed
        assert ask(column, "tgkill", 77, 78, number, pid=77) == allowed


@COLUMNS
def test_the_filter_refuses_calls_of_another_machine(column: int) -> None:
    program = seccomp.program(False, None, column)
    read = syscalls.numbers(syscalls.HARMLESS, column)["read"]
    assert answer(program, CODES[column], read) == ALLOWED
    assert answer(program, 0x40000003, read) == REFUSED
    assert answer(program, CODES[column], read | 0x40000000) == REFUSED


@given(
    messages=st.lists(st.binary(max_size=40), max_size=8),
    size=st.integers(1, 50),
)
def test_messages_arrive_whole_however_they_are_cut(messages: list[bytes], size: int) -> None:
    stream = READY + b"".join(struct.pack("<I", len(m)) + m for m in messages)
    reader = Reader(Limits())
    for start in range(0, len(stream), size):
        reader.feed(stream[start : start + size])
    reader.end()
    assert (reader.messages, reader.fault, reader.ready) == (messages, None, True)


@given(noise=st.binary(max_size=300), size=st.integers(1, 50))
def test_noise_never_passes_the_limits(noise: bytes, size: int) -> None:
    reader = Reader(Limits(result_bytes=100, messages=3))
    reader.feed(READY)
    for start in range(0, len(noise), size):
        reader.feed(noise[start : start + size])
    reader.end()
    assert len(reader.messages) <= 3
    assert sum(map(len, reader.messages)) <= 100
    assert reader.fault or len(noise) == sum(4 + len(m) for m in reader.messages)


def test_what_comes_without_the_ready_sign_is_no_message() -> None:
    reader = Reader(Limits())
    reader.feed(b"XYZ" + struct.pack("<I", 1) + b"a")
    assert (reader.ready, reader.messages) == (False, [])


def test_another_system_is_told_what_is_missing_and_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    capabilities.found.cache_clear()
    try:
        with pytest.raises(CannotIsolate, match=r"(?s)Darwin has neither.*--no-isolation"):
            require([], Limits())
    finally:
        capabilities.found.cache_clear()


def test_an_unknown_processor_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    capabilities.found.cache_clear()
    try:
        with pytest.raises(CannotIsolate, match="riscv64"):
            require([], Limits())
    finally:
        capabilities.found.cache_clear()


def test_folders_inside_others_and_doubles_are_left_out() -> None:
    paths = [Path("/b/c"), Path("/a"), Path("/a/b/c"), Path("/ab"), Path("/a")]
    assert outermost(paths) == [Path("/a"), Path("/ab"), Path("/b/c")]


def test_the_courses_own_folder_is_not_among_the_interpreters() -> None:
    repository = Path(__file__).parents[4]
    assert not any(repository.is_relative_to(path) for path in view([]).paths)
    ours = [path for path in view([]).paths if path.is_relative_to(repository)]
    assert all(path.is_relative_to(sys.prefix) for path in ours)  # .venv may lie in the course


def test_a_folder_for_its_owner_alone_is_named(tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    (shut / "inner").mkdir(parents=True)
    tmp_path.chmod(0o755)
    shut.chmod(0o700)
    assert shut in closed_to_others([shut / "inner"])
    shut.chmod(0o711)
    assert shut not in closed_to_others([shut / "inner"])


def test_a_message_that_is_sent_later_comes_with_the_next_and_before_it():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    channel, reader = Channel(writing, -1), Reader(Limits())
    reader.feed(READY)
    channel.send_later(b"seen")
    with pytest.raises(BlockingIOError):
        os.read(reading, 99)
    for message in (b"begins", b"ends"):
        channel.send(message)
        reader.feed(os.read(reading, 99))
    assert reader.messages == [b"seen", b"begins", b"ends"]
    os.close(reading)
    os.close(writing)


def test_messages_for_later_are_sent_by_themselves_once_they_are_many():
    reader = Reader(Limits())
    reader.feed(READY)
    with tempfile.TemporaryFile() as file:
        channel = Channel(file.fileno(), -1)
        for number in range(3):
            channel.send_later(bytes([number]) * (MOST_LATER // 2))
        reader.feed(os.pread(file.fileno(), 4 * MOST_LATER, 0))
    assert [message[:1] for message in reader.messages] == [b"\0", b"\1"]


def test_nothing_waits_where_all_is_to_be_sent_at_once():
    with tempfile.TemporaryFile() as file:
        channel = Channel(file.fileno(), -1)
        channel.at_once = True
        channel.send_later(b"seen")
        assert os.pread(file.fileno(), 99, 0).endswith(b"seen")


def test_a_note_is_read_from_the_file_that_it_was_opened_in():
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(bytes(note.blank()) + b"what follows")
        assert note.read(file.fileno()) == note.NOTHING
        for noted in ([3, 4], [-(1 << 63), (1 << 63) - 1]):
            note.opened(file.fileno())[:] = noted
            assert note.read(file.fileno()) == tuple(noted)
        assert os.pread(file.fileno(), 99, note.SIZE) == b"what follows"


def test_a_note_in_a_file_that_cannot_be_mapped_is_an_error():
    reading, writing = os.pipe()
    with pytest.raises(OSError, match="cannot map"):
        note.opened(reading)
    os.close(reading)
    os.close(writing)
