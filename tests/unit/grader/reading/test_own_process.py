import faulthandler
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.reading import own_process
from grader.reading.own_process import OwnProcess, TooCostly, in_own_process


def forever() -> bytes:
    while True:
        pass


def greedy() -> bytes:
    return bytes(1 << 29)


def fails() -> bytes:
    raise KeyError("a fault of ours")


def falls() -> bytes:
    faulthandler.disable()  # else pytest prints all stacks, as of a fault of its own
    os.kill(os.getpid(), signal.SIGSEGV)  # as a stack that is used up


def killed() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)  # as a machine does that lacks memory


def test_what_the_work_returns_comes_back_whole():
    assert in_own_process(lambda: b"ab" * 100_000) == b"ab" * 100_000


def test_work_without_end_is_too_costly_and_stopped():
    with pytest.raises(TooCostly):
        in_own_process(forever, cpu_seconds=1)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no such limit here")
def test_work_that_takes_more_memory_than_it_may_is_too_costly():
    with pytest.raises(TooCostly):
        in_own_process(greedy, memory=1 << 27)


def test_work_that_a_signal_ends_is_too_costly_and_touches_nobody_else():
    with pytest.raises(TooCostly):
        in_own_process(falls)


def test_work_that_the_machine_kills_is_no_fault_of_the_text():
    with pytest.raises(RuntimeError, match="something ended"):
        in_own_process(killed)


def test_a_fault_of_ours_is_no_fault_of_the_text():
    with pytest.raises(RuntimeError, match="KeyError: 'a fault of ours'"):
        in_own_process(fails)


def test_work_that_waits_is_ended_and_no_fault_of_the_text(monkeypatch):
    monkeypatch.setattr(own_process, "WALL_SECONDS", 0.2)
    with pytest.raises(RuntimeError, match="in time"):
        in_own_process(lambda: bytes(time.sleep(600) or 0))


def test_what_was_done_in_time_counts_however_late_it_is_looked_at(monkeypatch):
    monkeypatch.setattr(own_process, "WALL_SECONDS", 0.0)
    work = OwnProcess(lambda: b"done")
    os.waitid(os.P_PID, work._child, os.WEXITED | os.WNOWAIT)
    assert work.result() == b"done"


KILLED = """
import os, signal, time
from grader.reading.own_process import OwnProcess
began, telling = os.pipe()
OwnProcess(lambda: os.write(telling, b".") and time.sleep(600) or b"")
os.read(began, 1)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing ends with its parent")
def test_the_work_ends_with_a_parent_that_was_killed_and_lets_go_of_what_that_held():
    held, ours = os.pipe()
    process = subprocess.Popen([sys.executable, "-c", KILLED], pass_fds=[ours])
    os.close(ours)
    process.wait()
    assert select.select([held], [], [], 60)[0], "the other end is still open"
    os.close(held)


def test_work_whose_result_nobody_is_left_to_take_ends():
    told, open_while_they_live = os.pipe()
    grader = os.fork()
    if grader == 0:
        own_process.die_with_parent = lambda: None  # as where nothing ends with its parent
        OwnProcess(lambda: bytes(1 << 20))  # more than a pipe holds: it waits for a reader
        os.write(open_while_they_live, b".")
        time.sleep(600)
        os._exit(1)
    os.close(open_while_they_live)
    os.read(told, 1)
    os.kill(grader, signal.SIGKILL)
    os.waitpid(grader, 0)
    assert select.select([told], [], [], 20)[0], "the work is still there"
    assert os.read(told, 1) == b""
    os.close(told)
