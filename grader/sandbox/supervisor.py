"""The trusted side: starts isolated tasks and watches many at once, in one thread."""

import contextlib
import itertools
import os
import select
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from grader.sandbox.channel import Ending
from grader.sandbox.child import Task
from grader.sandbox.start import started
from grader.sandbox.starting import BLIND_SECONDS, Elsewhere, Here
from grader.sandbox.task import Answer, Ended, Running
from grader.sandbox.walls import interpreter
from grader.sandbox.walls.capabilities import require
from grader.sandbox.walls.confine import Confinement, Walls, filter_program
from grader.sandbox.walls.folders import Folders
from grader.sandbox.walls.limits import Limits

WATCH_SECONDS: Final = 0.2  # between two looks at a folder on disk
LEAVING_SECONDS: Final = 0.001  # between two looks at what is being taken down
BEAT_SECONDS: Final = 1.0  # between two looks at the clock while a task is at work
STILL_SECONDS: Final = 5.0  # a look that is so late: the machine slept, or this process was stopped
FIRST_USER: Final = 0x70000000  # user ids from here on belong to nobody
USERS_EACH: Final = 1024  # how many of them one warm process takes in turn
TURNS: Final = itertools.count()  # for all supervisors: what a killed task left may still count


class Supervisor:
    """Run tasks in copies of this warm process, behind walls, many at once.

    `readable`: files and folders that tasks may read besides the interpreter and its packages.
    `scratch`: where private folders go on a machine without mount namespaces; elsewhere they are
    in memory. `isolate=False` leaves only the limits and a separate process: for work that you
    trust as your own. Raises CannotIsolate, or FileNotFoundError for an absent `readable`.

    Use it from the process that imported torch, before any thread starts. A task inherits that
    process's memory, so nothing secret may be in it; the text of an unflushed file may be. Or have
    another process start the tasks (`starting.Elsewhere`): then they inherit the memory of that.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        readable: Iterable[Path] = (),
        scratch: Path | None = None,
        isolate: bool = True,
    ) -> None:
        self.limits = limits or Limits()
        self._folders = Folders(scratch)
        self.view = interpreter.view(readable)
        self.walls = require(self.view.paths, self.limits) if isolate else Walls()
        self.secrets = environment_block()
        if self.walls.seccomp:
            filter_program(self.walls, self.limits, os.getpid())  # once, for all copies
        self._running: dict[int, Running] = {}
        self._leaving: list[Running] = []  # reported, and still being taken down
        self._numbers = itertools.count()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def running(self) -> int:
        """The number of tasks started and not yet reported by poll."""
        return len(self._running)

    @property
    def _counts_apart(self) -> bool:
        return self.walls.drop_root or "user" in self.walls.namespaces

    def start(
        self,
        task: Task | Elsewhere,
        limits: Limits | None = None,
        answer: Answer = lambda _: None,
        *,
        held: bool = False,
    ) -> int:
        """Start a task and return its number; raises OSError if no process can be started.

        `task` runs in a copy of this process, or is another process that has one and starts it.
        `answer` returns the reply to a message that is a question, None for all others. `limits`
        replace the supervisor's, except `forks`, which is the same for all tasks. A task that is
        `held` must begin with `Channel.wait`; until `let_go` no time runs for it.
        """
        plan = self._plan(replace(limits or self.limits, forks=self.limits.forks))
        origin = task if isinstance(task, Elsewhere) else Here(task)
        number = next(self._numbers)
        self._running[number] = started(origin, plan, answer, held=held)
        return number

    def let_go(
        self, number: int, message: bytes, wall_seconds: float, answer: Answer, last: bytes = b""
    ) -> None:
        """Let a held task go, with so much time; `message` is what its wait returns.

        `answer` is as for `start`. A message from it that begins with `last` ends it: it is
        reported as finished at once, and stopped. Nothing happens to a task that has ended, which
        poll has told or will tell.
        """
        if task := self._running.get(number):
            task.let_go(message, replace(task.limits, wall_seconds=wall_seconds), answer, last)

    def poll(self, timeout: float | None = None) -> dict[int, Ended]:
        """Return the tasks that have ended, by number; wait for one at most `timeout` seconds."""
        until = float("inf") if timeout is None else time.monotonic() + timeout
        self._leaving = [task for task in self._leaving if not task.is_gone()]
        due = list(self._running)
        while self._running:
            ended = {n: end for n in due if (end := self._running[n].watch())}
            for number in ended:
                task = self._running.pop(number)
                self._leaving += [task] * task.is_leaving
            if ended or time.monotonic() >= until:
                return ended
            due = self._wait(until)
        return {}

    def close(self) -> None:
        """End every task that is still running."""
        for task in self._running.values():
            task.stop(Ending.TIMED_OUT)
        while self._running or self._leaving:
            self.poll()
            time.sleep(LEAVING_SECONDS if self._leaving else 0)

    def _wait(self, until: float) -> list[int]:
        """Wait until something happens to a task, a deadline comes, or `until`.

        Returns the tasks to look at: those that it happened to, and those that tell nothing of what
        happens to them; all at a deadline.
        """
        events = select.poll()
        places: dict[int, int] = {}
        silent = []
        began = time.monotonic()
        if not all(task.held for task in self._running.values()):
            until = min(until, began + BEAT_SECONDS)
        for number, task in self._running.items():
            until = min(until, task.deadline, time.monotonic() + patience(task))
            silent += [number] * (patience(task) < float("inf"))
            for descriptor in task.descriptors():
                events.register(descriptor, select.POLLIN)
                places[descriptor] = number
            if task.unsent:
                events.register(task.replies, select.POLLOUT)
                places[task.replies] = number
        left = until - time.monotonic()
        happened = events.poll(None if left == float("inf") else max(0, int(left * 1000) + 1))
        late = time.monotonic() - max(until, began)
        if late > STILL_SECONDS:
            self._stood_still(late)
        if late >= 0:
            return list(self._running)
        return list({*silent, *(places[descriptor] for descriptor, _ in happened)})

    def _stood_still(self, seconds: float) -> None:
        """Give tasks at work the time in which nobody could watch them, nor they work."""
        for task in self._running.values():
            task.still += 0.0 if task.held else seconds

    def _plan(self, limits: Limits) -> Confinement:
        walls = self.walls
        user, group = os.geteuid(), os.getegid()
        if walls.drop_root:
            user = group = nobody()
        others = 0 if self._counts_apart else tasks_of(user)
        folder = None if "mount" in walls.namespaces else self._folders.new(user, group)
        return Confinement(walls, limits, self.view, folder, user, group, others, self.secrets)


def patience(task: Running) -> float:
    """Return the seconds after which to look at a silent task again."""
    if task.process.descriptor is None:
        return BLIND_SECONDS
    return WATCH_SECONDS if task.folder else float("inf")


def nobody() -> int:
    """Return a user id for a task that no other process has at the same time."""
    turn = next(TURNS) % USERS_EACH
    start = FIRST_USER + os.getpid() % 65536 * USERS_EACH
    last = last_user()
    return start + turn if start + turn <= last else last - turn


def last_user() -> int:
    """Return the last user id to hand out: the second highest that exists for this process."""
    rows = Path("/proc/self/uid_map").read_text().splitlines()
    ends = [int(first) + int(count) for first, _, count in (row.split() for row in rows)]
    return max(ends) - 2


def tasks_of(user: int) -> int:
    """Count a user's processes and threads now: the kernel counts a task's with them."""
    proc = Path("/proc")
    entries = [entry for entry in proc.iterdir() if entry.name.isdigit()] if proc.exists() else []
    return sum(threads_of(entry, user) for entry in entries)


def threads_of(process: Path, user: int) -> int:
    """Count a process's threads (one folder each in /proc) if it is the user's, else return 0."""
    with contextlib.suppress(OSError):
        tasks = (process / "task").stat()
        return tasks.st_nlink - 2 if tasks.st_uid == user else 0
    return 0


def environment_block() -> tuple[int, int] | None:
    """Return the addresses between which the kernel first put arguments and environment."""
    about = Path("/proc/self/stat")
    if not about.exists():
        return None
    columns = about.read_text().rpartition(")")[2].split()
    start, end = int(columns[45]), int(columns[48])
    return (start, end) if 0 < start < end else None
