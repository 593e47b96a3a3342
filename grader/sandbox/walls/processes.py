"""Copy the warm process, into new namespaces where that is possible.

A namespace is the kernel's separate view of processes, mounts, network or users.
"""

import contextlib
import ctypes
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from grader.sandbox.walls import syscalls

USER, PID, NET, IPC, MOUNT = 0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000
NAMES: Final = {"user": USER, "pid": PID, "net": NET, "ipc": IPC, "mount": MOUNT}
SETTID, CLEARTID = 0x01000000, 0x00200000
INSIDE = 65534  # the user id of an ordinary user's process in its own user namespace


def flags_of(namespaces: frozenset[str]) -> int:
    """Return the kernel's flags for namespaces, given by name."""
    return sum(NAMES[name] for name in namespaces)


def thread_count() -> int:
    """Return how many threads this process has; 1 without /proc."""
    tasks = Path("/proc/self/task")
    return len(os.listdir(tasks)) if tasks.exists() else 1  # noqa: PTH208 (three times as fast)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold signals back: an interrupt in a fresh copy would make it a second grader."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def spawn(namespaces: frozenset[str], child: Callable[[], None]) -> int:
    """Run `child`, which must not return, in a copy of this process; return the copy's id.

    Call it inside `undisturbed`; the copy starts with every signal held back.

    A process with one thread is copied straight into the namespaces, at the cost of a fork. With
    several threads, os.fork first makes a copy with one thread (and lets libraries put their
    thread pools in order); that copy waits in between, which costs a second fork.
    """
    if not namespaces:
        return run_in(plain_fork(), child)
    if thread_count() == 1:
        return run_in(clone(flags_of(namespaces)), child)
    return run_in(plain_fork(), lambda: stand_between(flags_of(namespaces), child))


def run_in(pid: int, child: Callable[[], None]) -> int:
    """Run `child` in the copy (where `pid` is 0) and never return; else return `pid`."""
    if pid:
        return pid
    try:
        child()
    finally:
        os._exit(125)


def plain_fork() -> int:
    """Fork without Python's warning about threads: the copy runs none of their code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def clone(flags: int) -> int:
    """Fork with namespace flags: like os.fork, but by the system call that takes them.

    Only for a process with one thread, because the C library's fork handlers (which put locks and
    thread pools in order) do not run. Raises OSError.
    """
    api = ctypes.pythonapi
    place = own_thread_id_place()
    flags |= signal.SIGCHLD | (SETTID | CLEARTID if place else 0)
    by_machine = (0, 0, place, 0) if syscalls.column() == 1 else (0, 0, 0, place)
    api.PyOS_BeforeFork()
    try:
        pid = syscalls.call("clone", flags, *by_machine)
    except OSError:
        api.PyOS_AfterFork_Parent()
        raise
    if pid:
        api.PyOS_AfterFork_Parent()
    else:
        api.PyOS_AfterFork_Child()
    return pid


def own_thread_id_place() -> int:
    """Return where the C library keeps this thread's id, for the kernel to update; 0 if unknown."""
    place = ctypes.c_ulong(0)
    try:
        syscalls.prctl(syscalls.PR_GET_TID_ADDRESS, ctypes.byref(place))
    except OSError:
        return 0
    return place.value


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends; call it after changing user."""
    if sys.platform == "linux":
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, int(signal.SIGKILL))


def stand_between(flags: int, child: Callable[[], None]) -> None:
    """Fork on into the namespaces, wait, and end as that copy ended."""
    die_with_parent()
    pid = run_in(clone(flags), child)
    os.closerange(0, 1024)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        with contextlib.suppress(OSError):
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


def become_ordinary_inside(user: int, group: int) -> None:
    """Map the outside user and group to `INSIDE` in a new user namespace; raises OSError."""
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # else these files are root's
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny")
    (own / "uid_map").write_text(f"{INSIDE} {user} 1")
    (own / "gid_map").write_text(f"{INSIDE} {group} 1")
