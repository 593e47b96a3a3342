"""One started task as the trusted side sees it, and what is said of it once it has ended."""

import contextlib
import os
import resource
import shutil
import signal
import stat
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal

from grader.isolation.channel import LENGTH, Reader
from grader.isolation.limits import Limits

Status = Literal[
    "finished",
    "timed out",
    "crashed",
    "too much output",
    "too many files",
    "garbled",
    "not isolated",
]
STDERR_TAIL: Final = 4096
CPU_ROUNDING: Final = 0.5  # the kernel enforces seconds by its ticks, and reports them exactly
CHUNK: Final = 1 << 16
RSS_UNIT: Final = 1024 if sys.platform == "linux" else 1


@dataclass(frozen=True)
class Ended:
    """How a task ended. What it sent, printed and exited with was in the task's own hands.

    `status`: "finished" says only that the process ended with code 0. `messages` came whole and in
    order, whatever came later. `signal` is None unless a signal ended the process. `max_rss_bytes`
    counts what the task shared with the warm parent. "not isolated": the walls could not be put
    up and the task was not run; `stderr` (the last of it) says why.
    """

    status: Status
    code: int | None
    signal: int | None
    messages: tuple[bytes, ...]
    cpu_seconds: float
    wall_seconds: float
    max_rss_bytes: int
    stderr: str


Answer = Callable[[bytes], bytes | None]


@dataclass(frozen=True)
class Pipes:
    """The trusted ends of a task's pipes, and what answers its questions.

    `answer` takes a message and gives the reply to it, or None for one that is to be kept.
    """

    messages: int
    replies: int
    answer: Answer


class Running:
    """A process that runs a task. `folder` is its private folder if that lies on disk."""

    def __init__(
        self, pid: int, pipes: Pipes, stderr: IO[bytes], folder: Path | None, limits: Limits
    ) -> None:
        self.pid, self.stderr, self.folder = pid, stderr, folder
        self.pipe, self.replies, self.answer = pipes.messages, pipes.replies, pipes.answer
        self.limits = limits
        self.reader = Reader(limits)
        self.started = time.monotonic()
        self.pidfd = pidfd_of(pid)
        self.open = True
        self.kept = 0
        self.stopped: Status | None = None
        os.set_blocking(self.pipe, False)
        os.set_blocking(self.replies, False)

    @property
    def deadline(self) -> float:
        """When its wall-clock time is over, by time.monotonic; never once it is stopped."""
        return float("inf") if self.stopped else self.started + self.limits.wall_seconds

    def descriptors(self) -> list[int]:
        """What to wait for: its end, and more from its pipe."""
        return [*([self.pidfd] if self.pidfd is not None else []), *([self.pipe] * self.open)]

    def stop(self, status: Status) -> None:
        """Kill it, and say that it ended as `status`, unless that was decided before."""
        self.stopped = self.stopped or status
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def attend(self) -> Ended | None:
        """Read what has come, stop it where a limit is passed; what came of it, once over.

        A task that is over is not timed out, however late one looks.
        """
        self.read()
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid:
            return self.bury(os.waitstatus_to_exitcode(status), usage)
        if self.reader.fault:
            self.stop(self.reader.fault)
        elif time.monotonic() >= self.deadline:
            self.stop("timed out")
        elif self.folder and not self.stopped and too_large(self.folder, self.limits):
            self.stop("too many files")
        return None

    def read(self) -> None:
        """Take from the pipe what is there; no more than the limits let cross."""
        while self.open and not self.reader.fault:
            try:
                chunk = os.read(self.pipe, CHUNK)
            except BlockingIOError:
                return
            self.open = bool(chunk)
            self.reader.feed(chunk)
            self.answer_questions()
        self.open = False

    def answer_questions(self) -> None:
        """Reply to the messages that are questions; the others stay."""
        kept = []
        for message in self.reader.messages[self.kept :]:
            reply = self.answer(message)
            if reply is None:
                kept.append(message)
            else:
                self.reply(reply)
        self.reader.messages[self.kept :] = kept
        self.kept = len(self.reader.messages)

    def reply(self, message: bytes) -> None:
        """Send a reply; a task that does not take it has nothing more to say."""
        frame = LENGTH.pack(len(message)) + message
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            if os.write(self.replies, frame) == len(frame):
                return
        self.stop("garbled")

    def bury(self, code: int, usage: resource.struct_rusage) -> Ended:
        """Say what came of the reaped process; end what is left of its group, and clear up."""
        wall = time.monotonic() - self.started
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.read()
        self.reader.end()
        cpu = usage.ru_utime + usage.ru_stime
        ended = Ended(
            status=self.verdict(code, cpu),
            code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            messages=tuple(self.reader.messages),
            cpu_seconds=cpu,
            wall_seconds=wall,
            max_rss_bytes=usage.ru_maxrss * RSS_UNIT,
            stderr=tail(self.stderr),
        )
        self.release()
        return ended

    def verdict(self, code: int, cpu: float) -> Status:
        """The status, from what we did to it, its exit code and its CPU seconds."""
        if self.stopped:
            return self.stopped
        if not self.reader.ready:
            return "not isolated"
        spent = cpu > self.limits.cpu_seconds - CPU_ROUNDING
        if code in (-signal.SIGKILL, -signal.SIGXCPU) and spent:
            return "timed out"
        if code and self.reader.fault != "too much output":
            return "crashed"
        return self.reader.fault or "finished"

    def release(self) -> None:
        """Close what is open for it and remove its folder."""
        os.close(self.pipe)
        os.close(self.replies)
        if self.pidfd is not None:
            os.close(self.pidfd)
        self.stderr.close()
        if self.folder:
            remove(self.folder)


def pidfd_of(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where there are none."""
    with contextlib.suppress(AttributeError, OSError):
        return os.pidfd_open(pid)
    return None


def tail(stream: IO[bytes]) -> str:
    """The last of what was written, as text."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - STDERR_TAIL))
    return stream.read(STDERR_TAIL).decode(errors="replace")


def too_large(folder: Path, limits: Limits) -> bool:
    """Whether a folder on disk holds more bytes or entries than allowed (links not followed)."""
    size = entries = 0
    for root, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        for name in files:
            with contextlib.suppress(OSError):
                size += (Path(root) / name).lstat().st_blocks * 512
        if entries > limits.folder_entries or size > limits.folder_bytes:
            return True
    return False


def remove(folder: Path) -> None:
    """Remove a folder that its task may have locked or removed itself."""

    def unlock(_remove: Callable[..., Any], path: str, _error: object) -> None:
        with contextlib.suppress(OSError):
            Path(path).parent.chmod(stat.S_IRWXU)
            Path(path).chmod(stat.S_IRWXU)
            shutil.rmtree(path, ignore_errors=True)

    shutil.rmtree(folder, onerror=unlock)
    shutil.rmtree(folder, ignore_errors=True)
