"""What this machine can use to isolate a task, found by trying, and what it lacks."""

import functools
import os
import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.sandbox.walls import interpreter, landlock, private_root, processes, seccomp, syscalls
from grader.sandbox.walls.confine import Walls
from grader.sandbox.walls.limits import Limits

OLDEST_LANDLOCK: Final = 3  # older versions let a task truncate a file outside
WITHOUT: Final = {
    "user": "No user namespace, so no other namespace for an ordinary user.",
    "pid": "No process namespace: a task may not start processes of its own.",
    "net": "No network namespace: the network is closed by seccomp alone.",
    "ipc": "No namespace for shared memory: it is closed by seccomp alone.",
    "mount": "No private root folder: names outside can be guessed, files are shut by Landlock.",
}


class CannotIsolate(RuntimeError):
    """The machine lacks what isolation needs; the message says what."""


@dataclass(frozen=True)
class Capabilities:
    """What this process can use here; `missing` has one sentence for each gap."""

    system: str
    root: bool
    landlock: int
    seccomp: bool
    namespaces: frozenset[str]
    missing: tuple[str, ...]


def capabilities_here() -> Capabilities:
    """Try every wall once, in short-lived copies of this process (about 10 ms if all work)."""
    return found(os.geteuid())


@functools.cache
def found(user: int) -> Capabilities:
    """Return this process's capabilities while its user id is `user`."""
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    if sys.platform != "linux":
        lack = f"{platform.system()} has neither Landlock, seccomp nor namespaces: only Linux has."
        return Capabilities(system, user == 0, 0, False, frozenset(), (lack,))
    if syscalls.column() is None:
        lack = f"The system calls of {platform.machine()} processors are not known here."
        return Capabilities(system, user == 0, 0, False, frozenset(), (lack,))
    filters = attempt(frozenset(), try_filter)
    namespaces, lacks = try_namespaces(user)
    lacks += landlock_lack() + ([f"No seccomp filter ({filters})."] if filters else [])
    return Capabilities(system, user == 0, landlock.abi(), not filters, namespaces, tuple(lacks))


def landlock_lack() -> list[str]:
    """Return one sentence if Landlock is missing or too old, else none."""
    if landlock.abi() >= OLDEST_LANDLOCK:
        return []
    if landlock.abi():
        return ["Landlock is older than Linux 6.2 and cannot stop a file from being cut."]
    return ["No Landlock: it needs Linux 5.13 and `landlock` in the kernel's list of LSMs."]


def try_namespaces(user: int) -> tuple[frozenset[str], list[str]]:
    """Return the usable namespaces, and a sentence for each that is not."""
    needed = frozenset() if user == 0 else frozenset({"user"})
    everything = needed | frozenset(processes.NAMES) - {"user"}
    if not attempt(everything, namespace_trial(everything)):
        return everything, []
    if needed and (reason := attempt(needed, namespace_trial(needed))):
        return frozenset(), [f"{WITHOUT['user']} ({reason})"]
    singly = {name: needed | {name} for name in WITHOUT if name in everything - needed}
    reasons = {name: attempt(some, namespace_trial(some)) for name, some in singly.items()}
    lacks = [f"{WITHOUT[name]} ({reason})" for name, reason in reasons.items() if reason]
    return needed.union(name for name, reason in reasons.items() if not reason), lacks


def namespace_trial(namespaces: frozenset[str]) -> Callable[[], None]:
    """Return a function that fails unless the namespaces work as intended."""
    user, group = os.geteuid(), os.getegid()

    def trial() -> None:
        if "user" in namespaces:
            processes.become_ordinary_inside(user, group)
        if "mount" in namespaces:
            owner = processes.INSIDE if "user" in namespaces else user
            private_root.enter(interpreter.View((), ()), owner, Limits())

    return trial


def try_filter() -> None:
    """Install a seccomp filter; fail if that is not possible."""
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.install(seccomp.program(forks=False, own_pid=None))


def attempt(namespaces: frozenset[str], work: Callable[[], None]) -> str:
    """Do `work` in a copy of this process in new namespaces; return why it failed, else ""."""
    reading, writing = os.pipe()

    def child() -> None:
        try:
            work()
        except OSError as error:
            os.write(writing, str(error).encode())
        os._exit(0)

    try:
        with processes.undisturbed():
            pid = processes.spawn(namespaces, child)
        _, status = os.waitpid(pid, 0)
        os.close(writing)
        writing = -1
        said = os.read(reading, 1000).decode()
        return said or (f"ended with {status}" if status else "")
    except OSError as error:
        return str(error)
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)


def require(paths: Iterable[Path], limits: Limits) -> Walls:
    """Return the walls to use here; raises CannotIsolate if they would not hold.

    `paths`: what the task must be able to read.
    """
    can = capabilities_here()
    mount = "mount" in can.namespaces
    drop_root = can.root and "user" not in can.namespaces
    if not can.seccomp or not (mount or can.landlock >= OLDEST_LANDLOCK):
        refuse("needs a seccomp filter, and a private root folder or Landlock", can.missing)
    if limits.forks and "pid" not in can.namespaces:
        refuse("of tasks that start processes needs a process namespace", can.missing)
    closed = interpreter.closed_to_others(paths) if drop_root and not mount else []
    if closed:
        refuse("gives up root, who alone may enter " + ", ".join(map(str, closed)), can.missing)
    return Walls(can.namespaces, can.landlock >= 1, can.seccomp, drop_root)


def refuse(why: str, missing: Iterable[str]) -> None:
    """Raise CannotIsolate; say what is missing and how to grade without it."""
    lines = [f"This machine cannot isolate submissions: isolation {why}.", *missing]
    lines.append("To grade only work that you trust as your own, use --no-isolation.")
    raise CannotIsolate("\n".join(lines))
