"""What a task's process gives up, in order, before the task's first line runs."""

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

from grader.isolation import kernel, landlock, private_root, processes, seccomp
from grader.isolation.interpreter import View
from grader.isolation.limits import Limits

CHANNEL: Final = 3  # with REPLIES the only descriptors besides 0, 1 and 2 that a task has
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
class Plan:
    """How one task is to be confined: `folder` is its private one, None where it is mounted."""

    walls: Walls
    limits: Limits
    view: View
    folder: Path | None
    user: int
    group: int
    others_tasks: int = 0
    secrets: tuple[int, int] | None = None


def confine(plan: Plan) -> None:
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


def lock(plan: Plan, rules: int | None) -> None:
    """Close the last walls: after this the process can change nothing about itself."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if rules is not None:
        landlock.restrict(rules)
    if plan.walls.seccomp:
        own_pid = None if "pid" in plan.walls.namespaces else os.getpid()
        seccomp.install(seccomp.program(plan.limits.forks, own_pid))


def mapped_bytes() -> int:
    """Address space that this process has now; 0 where there is no /proc to ask."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0


def offer_to_the_memory_killer() -> None:
    """If the machine runs out of memory, the kernel should end a task, not the grader."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def enter_folder(plan: Plan) -> None:
    """Go to the private folder: on a root of the task's own, or on disk."""
    if plan.folder is None:
        owner = processes.INSIDE if "user" in plan.walls.namespaces else plan.user
        private_root.enter(plan.view, owner, plan.limits)
    else:
        os.chdir(plan.folder)


def file_rules(plan: Plan) -> int:
    """Landlock's rules for the files as they lie now."""
    return landlock.ruleset(plan.view.paths, private_root.DEVICES, [Path.cwd()])


def forget_surroundings(secrets: tuple[int, int] | None) -> None:
    """Replace environment, arguments and signal handlers, also where the kernel put them."""
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


def drop_privileges(plan: Plan) -> None:
    """Become an ordinary user without any capability."""
    if plan.walls.drop_root:
        os.setgroups([])
        os.setresgid(plan.group, plan.group, plan.group)
        os.setresuid(plan.user, plan.user, plan.user)
    if plan.walls.drop_root or "user" in plan.walls.namespaces:
        head = struct.pack("=Ii", CAPABILITY_VERSION, 0)
        kernel.call("capset", ctypes.c_char_p(head), ctypes.c_char_p(bytes(24)))


def set_limits(plan: Plan, mapped: int) -> None:
    """Resource limits, soft and hard alike; where the system lacks one, it is left out."""
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
    """Set one resource limit, at most to what already holds."""
    which = getattr(resource, name, None)
    if which is None or value == resource.RLIM_INFINITY:
        return
    _, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))
