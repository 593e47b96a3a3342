"""Take away a task's rights, in order, before the task's first line runs."""

import contextlib
import ctypes
import os
import resource
import signal
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.sandbox.walls import landlock, private_root, processes, seccomp, syscalls
from grader.sandbox.walls.folders import Folder
from grader.sandbox.walls.interpreter import View
from grader.sandbox.walls.limits import Limits

CHANNEL: Final = 3  # with REPLIES, a task's only descriptors besides 0, 1 and 2
REPLIES: Final = 4
CAPABILITY_VERSION: Final = 0x20080522


@dataclass(frozen=True)
class Walls:
    """Which walls stand between a task and the rest of the machine."""

    namespaces: frozenset[str] = frozenset()
    landlock: bool = False
    seccomp: bool = False
    drop_root: bool = False


@dataclass(frozen=True)
class Confinement:
    """How to confine one task; `folder` is its private folder, None where that is mounted."""

    walls: Walls
    limits: Limits
    view: View
    folder: Folder | None
    user: int
    group: int
    others_tasks: int = 0
    secrets: tuple[int, int] | None = None


def confine(plan: Confinement) -> None:
    """Put this process behind the plan's walls for good; raises OSError or ValueError."""
    mapped = mapped_bytes()
    offer_to_the_memory_killer()
    if "user" in plan.walls.namespaces:
        processes.become_ordinary_inside(plan.user, plan.group)
    enter_folder(plan)
    forget_surroundings(plan.secrets)
    rules = file_rules(plan) if plan.walls.landlock else None
    drop_privileges(plan)
    set_limits(plan, mapped)
    processes.die_with_parent()
    lock(plan, rules)


def lock(plan: Confinement, rules: int | None) -> None:
    """Close the last walls: after this, the process can change nothing about itself."""
    if sys.platform == "linux":
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if rules is not None:
        landlock.restrict(rules)
    if plan.walls.seccomp:
        seccomp.install(filter_program(plan.walls, plan.limits, os.getpid()))


def filter_program(walls: Walls, limits: Limits, pid: int) -> bytes:
    """Return the seccomp filter of a task with the id `pid`: one for all where ids are its own."""
    return seccomp.program(limits.forks, None if "pid" in walls.namespaces else pid)


def mapped_bytes() -> int:
    """Return the bytes of address space that this process has now; 0 without /proc."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0


def offer_to_the_memory_killer() -> None:
    """Have the kernel end a task, not the grader, if the machine runs out of memory."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def enter_folder(plan: Confinement) -> None:
    """Enter the private folder, on the task's own root or on disk."""
    if plan.folder is None:
        owner = processes.INSIDE if "user" in plan.walls.namespaces else plan.user
        private_root.enter(plan.view, owner, plan.limits)
    else:
        os.chdir(plan.folder.path)


def file_rules(plan: Confinement) -> int:
    """Return Landlock's rules for the files as they are now."""
    return landlock.ruleset(plan.view.paths, private_root.DEVICES, [Path.cwd()])


def forget_surroundings(secrets: tuple[int, int] | None) -> None:
    """Replace environment and arguments, even the kernel's copy, and drop signal handlers."""
    os.environ.clear()
    sys.argv[:] = [""]
    sys.orig_argv[:] = [""]
    if secrets:
        ctypes.memset(secrets[0], 0, secrets[1] - secrets[0])
    home = os.getcwd()  # noqa: PTH109 (a string is wanted)
    os.environ.update(HOME=home, TMPDIR=home, MPLCONFIGDIR=home, PATH="", USER="student")
    os.environ.update(LOGNAME="student", LANG="C.UTF-8", TZ="UTC", MPLBACKEND="agg")
    tempfile.tempdir = None
    forget_signals()


def forget_signals() -> None:
    """Drop the warm parent's signal handlers."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def drop_privileges(plan: Confinement) -> None:
    """Become an ordinary user without capabilities."""
    if plan.walls.drop_root:
        os.setgroups([])
        os.setresgid(plan.group, plan.group, plan.group)
        os.setresuid(plan.user, plan.user, plan.user)
    if plan.walls.drop_root or "user" in plan.walls.namespaces:
        head = struct.pack("=Ii", CAPABILITY_VERSION, 0)
        syscalls.call("capset", ctypes.c_char_p(head), ctypes.c_char_p(bytes(24)))


def set_limits(plan: Confinement, mapped: int) -> None:
    """Set the resource limits, soft and hard alike; skip those that the system lacks."""
    limits = plan.limits
    wanted = {
        "RLIMIT_CPU": limits.cpu_seconds,
        "RLIMIT_AS": mapped + limits.memory_bytes if mapped else resource.RLIM_INFINITY,
        "RLIMIT_NPROC": plan.others_tasks + limits.tasks,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_CORE": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_MEMLOCK": 0,
    }
    for name, value in wanted.items():
        lower(name, value)


def lower(name: str, value: int) -> None:
    """Set one resource limit, never above the present hard limit."""
    which = getattr(resource, name, None)
    if which is None or value == resource.RLIM_INFINITY:
        return
    _, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))
