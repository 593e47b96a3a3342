"""Where a task's process comes from: a copy of this process, or of another that starts it.

A process that starts tasks for another one learns nothing of them: it gets their limits, and the
ends of their pipes, which it hands on unread. So no task finds in its memory what others did.
"""

import contextlib
import os
import pickle
import select
import signal
import socket
import struct
import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from grader.sandbox import child
from grader.sandbox.child import Task
from grader.sandbox.walls import processes
from grader.sandbox.walls.confine import Confinement

LENGTH: Final = struct.Struct("<I")
BLIND_SECONDS: Final = 0.01  # between two looks at a process where there are no pidfds
RSS_UNIT: Final = 1024 if sys.platform == "linux" else 1


class End(NamedTuple):
    """How a process ended: its exit code (a signal's number below zero) and what it used."""

    code: int
    cpu_seconds: float
    max_rss_bytes: int


class Process(Protocol):
    """A task's process, whoever started it.

    Attributes:
        pid: its id, also that of its group.
        descriptor: what becomes readable when it ends; None where nothing does.

    """

    pid: int
    descriptor: int | None

    def ended(self) -> End | None:
        """Return how it ended, once; None while it runs."""
        ...

    def kill(self) -> None:
        """End it; nothing happens to one that is over."""
        ...

    def close(self) -> None:
        """Let go of what is open for it."""
        ...


class Child:
    """A child of this process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.descriptor = pidfd_of(pid)

    def ended(self) -> End | None:
        """Reap it if it has ended, and kill what is left of its group."""
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if not pid:
            return None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        seconds = usage.ru_utime + usage.ru_stime
        return End(os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss * RSS_UNIT)

    def kill(self) -> None:
        """End it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close its pidfd."""
        if self.descriptor is not None:
            os.close(self.descriptor)


def pidfd_of(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends; None without pidfds."""
    with contextlib.suppress(AttributeError, OSError):
        return os.pidfd_open(pid)
    return None


class Origin(Protocol):
    """What starts a task's process: see `Here` and `Elsewhere`."""

    def start(self, plan: Confinement, ends: child.Ends) -> Process:
        """Start it behind the plan's walls; raises OSError if that is not possible."""
        ...


@dataclass(frozen=True)
class Here:
    """Starts tasks as copies of this process."""

    task: Task

    def start(self, plan: Confinement, ends: child.Ends) -> Child:
        """Copy this process."""
        with processes.undisturbed():
            return Child(
                processes.spawn(plan.walls.namespaces, lambda: child.live(self.task, plan, ends))
            )


class Elsewhere:
    """Another process, which runs `serve`: tasks are copies of that.

    Args:
        connection: to it. It ends when this is closed, and its tasks with it.

    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._ended: dict[int, End] = {}
        self._answers: list[Distant | OSError] = []

    def start(self, plan: Confinement, ends: child.Ends) -> "Distant":
        """Have it start a task, and wait until that is there.

        Raises:
            OSError: it cannot be started.
            EOFError: the other process is no longer there.

        """
        send(self._connection, plan, ends)
        while not self._answers:
            self._hear()
        answer = self._answers.pop()
        if isinstance(answer, OSError):
            raise answer
        return answer

    def end_of(self, pid: int, *, is_over: bool) -> End | None:
        """Return how a task ended, once; None while it runs. Wait to be told if it is over."""
        while pid not in self._ended and (is_over or readable(self._connection)):
            self._hear()
        return self._ended.pop(pid, None)

    def kill(self, pid: int) -> None:
        """Have a task ended, unless it is over."""
        send(self._connection, pid)

    def _hear(self) -> None:
        told, descriptors = receive(self._connection)
        if isinstance(told, tuple):
            self._ended[told[0]] = End(*told[1])
        elif isinstance(told, int):
            self._answers.append(Distant(told, descriptors[0] if descriptors else None, self))
        else:
            self._answers.append(told)


class Distant:
    """A child of another process, with a pidfd that this one opened."""

    def __init__(self, pid: int, descriptor: int | None, origin: Elsewhere) -> None:
        self.pid, self.descriptor, self._origin = pid, descriptor, origin

    def ended(self) -> End | None:
        """Return how it ended, as its parent told."""
        is_over = self.descriptor is not None and readable(self.descriptor)
        if self.descriptor is not None and not is_over:
            return None
        return self._origin.end_of(self.pid, is_over=is_over)

    def kill(self) -> None:
        """Have its parent end it."""
        self._origin.kill(self.pid)

    def close(self) -> None:
        """Close its pidfd."""
        if self.descriptor is not None:
            os.close(self.descriptor)


def serve(connection: socket.socket, task: Task) -> None:
    """Start copies of this process as the other side asks, until that is gone; then end them."""
    here, running = Here(task), dict[int, Child]()
    try:
        while True:
            _tell_ends(connection, running)
            if _something_asked(connection, running):
                asked, descriptors = receive(connection)
                if isinstance(asked, Confinement):
                    _start(connection, here, asked, descriptors, running)
                elif asked in running:
                    running[asked].kill()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        for process in running.values():
            process.kill()
            os.waitpid(process.pid, 0)


def _start(
    connection: socket.socket,
    here: Here,
    plan: Confinement,
    descriptors: Collection[int],
    running: dict[int, Child],
) -> None:
    try:
        process = here.start(plan, child.Ends(*descriptors))
    except OSError as error:
        send(connection, OSError(error.errno, error.strerror))
    else:
        running[process.pid] = process
        pidfd = process.descriptor
        send(connection, process.pid, [] if pidfd is None else [pidfd])
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _tell_ends(connection: socket.socket, running: dict[int, Child]) -> None:
    for pid, process in list(running.items()):
        if (end := process.ended()) is not None:
            process.close()
            del running[pid]
            send(connection, (pid, tuple(end)))


def _something_asked(connection: socket.socket, running: dict[int, Child]) -> bool:
    """Wait until a task may have ended or something is asked; return whether it is the latter."""
    events = select.poll()
    events.register(connection, select.POLLIN)
    known = [p.descriptor for p in running.values() if p.descriptor is not None]
    for descriptor in known:
        events.register(descriptor, select.POLLIN)
    is_blind = len(known) < len(running)
    found = events.poll(int(BLIND_SECONDS * 1000) if is_blind else None)
    return any(descriptor == connection.fileno() for descriptor, _ in found)


def readable(what: socket.socket | int) -> bool:
    """Return whether something has come, or a pidfd's process has ended."""
    events = select.poll()
    events.register(what, select.POLLIN)
    return bool(events.poll(0))


def send(connection: socket.socket, what: Any, descriptors: Collection[int] = ()) -> None:
    """Send a value, with copies of descriptors, to a process that runs no student code.

    In one call: who is killed in it has said nothing, or all.
    """
    body = pickle.dumps(what)
    whole = LENGTH.pack(len(body)) + body
    connection.sendall(whole[socket.send_fds(connection, [whole], list(descriptors)) :])


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """Wait for a value and its descriptors; raises EOFError if the other side has ended."""
    head, descriptors, _, _ = socket.recv_fds(connection, LENGTH.size, len(child.Ends._fields))
    body = connection.recv(LENGTH.unpack(head)[0], socket.MSG_WAITALL) if head else b""
    if not body:
        raise EOFError("the other process has ended")
    return pickle.loads(body), descriptors
