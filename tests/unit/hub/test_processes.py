"""What ends with a student's server: all that the account runs, and nothing else."""

import grp
import os
import pwd
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace

import pytest

from hub.accounts import NOBODY_AT_ALL, end_processes
from hub.spawners import end_account
from tests.unit.grader.odd_files import ORDINARY_USER

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not sys.platform.startswith("linux"),
    reason="only root on Linux runs processes as another account",
)
ADA, BEN = 64102, 64103  # no accounts of this machine
# A chain: each process makes the next one and is gone, so that no list of them is ever true.
CHAIN = """
import os, time
while True:
    if os.fork():
        os._exit(0)
    time.sleep(0.0002)
"""
# What a hostile account would do to whoever comes to end its processes.
STOPPER = """
import os, signal
sender = int(os.read({asked}, 20))
try:
    os.kill(sender, signal.SIGSTOP)
    os.kill(sender, signal.SIGCONT)
    os.write({told}, b"stopped")
except PermissionError:
    os.write({told}, b"refused")
signal.pause()
"""
Start = Callable[[int, str], tuple[int, int]]


@pytest.fixture(autouse=True)
def accounts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ada's account is the hub's, Ben's is not."""
    users = {"ada": ADA, "ben": BEN}
    monkeypatch.setattr(grp, "getgrnam", lambda _: SimpleNamespace(gr_mem=["ada"]))
    monkeypatch.setattr(pwd, "getpwnam", lambda name: SimpleNamespace(pw_uid=users[name]))


@pytest.fixture
def start() -> Iterator[Start]:
    """Runs code as a user, in a session of its own, until the test ends.

    Gives the process's id and the end of a pipe that closes with the last process of that code: no
    list of processes is needed to tell.
    """
    started, ends = [], []

    def start(user: int, code: str) -> tuple[int, int]:
        end, held = os.pipe()
        begun, begins = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.setsid()
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
                os.close(begun)
                os.write(begins, b"!")
                exec(code, {})
            finally:
                os._exit(0)
        os.close(held)
        os.read(begun, 1)
        os.close(begun)
        os.close(begins)
        started.append(child)
        ends.append(end)
        return child, end

    yield start
    for process in started:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    for end in ends:
        os.close(end)


def is_over(end: int) -> bool:
    return end in select.select([end], [], [], 30)[0]


SLEEP = "import signal; signal.pause()"


@pytest.mark.parametrize("code", [SLEEP, CHAIN], ids=["one", "a chain"])
def test_all_that_an_account_runs_ends_at_once(start: Start, code: str) -> None:
    ends = [start(ADA, each)[1] for each in (code, SLEEP, code)]
    end_processes("ada")
    assert all(map(is_over, ends))


def test_the_account_cannot_stop_what_ends_its_processes(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, asks = os.pipe()
    told, tells = os.pipe()
    heard, hears = os.pipe()
    end = start(ADA, STOPPER.format(asked=asked, told=tells))[1]
    kill = os.kill

    def kill_when_tried(whom: int, number: int) -> None:
        os.write(asks, str(os.getpid()).encode())
        os.write(hears, os.read(told, 20))
        kill(whom, number)

    monkeypatch.setattr(os, "kill", kill_when_tried)
    end_processes("ada")
    monkeypatch.undo()
    assert os.read(heard, 20) == b"refused"
    assert is_over(end)
    for each in (asked, asks, told, tells, heard, hears):
        os.close(each)


def test_what_others_run_stays(start: Start) -> None:
    others = [start(user, SLEEP)[0] for user in (BEN, 0, 65534)]
    end = start(ADA, SLEEP)[1]
    end_processes("ada")
    assert is_over(end)
    assert [os.waitpid(process, os.WNOHANG) for process in others] == [(0, 0)] * 3


def test_of_an_account_that_the_hub_has_not_made_nothing_ends(start: Start) -> None:
    other = start(BEN, SLEEP)[0]
    end_processes("ben")
    end_account(SimpleNamespace(user=SimpleNamespace(name="ben")))
    assert os.waitpid(other, os.WNOHANG) == (0, 0)


def test_where_nothing_runs_nothing_happens() -> None:
    end_processes("ada")


def test_no_other_test_runs_as_the_id_that_ends_accounts() -> None:
    assert NOBODY_AT_ALL not in (ORDINARY_USER, ADA, BEN, 65534)
