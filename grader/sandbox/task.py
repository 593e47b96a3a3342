"""One started task as the trusted side sees it, and the report on it once it has ended."""

import fcntl
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Final

from grader.sandbox import note
from grader.sandbox.channel import LENGTH, Ending, Reader
from grader.sandbox.starting import End, Process
from grader.sandbox.walls.folders import Folder
from grader.sandbox.walls.limits import Limits
from grader.sandbox.walls.private_folder import too_large

STDERR_TAIL: Final = 4096
CPU_ROUNDING: Final = 0.5  # the kernel enforces seconds in ticks, but reports them exactly
CHUNK: Final = 1 << 16
MOST_UNSENT: Final = 1 << 20  # bytes of replies that wait for a task to read those before


@dataclass(frozen=True)
class Ended:
    """How a task ended. The task itself controlled what it sent, printed and exited with.

    `status`: "finished" means only that the process ended with code 0; "not isolated", that the
    walls could not be put up and the task did not run: `stderr` (the end of it) says why.
    `messages` came whole and in order, whatever came later. `signal` is None unless a signal ended
    the process. `max_rss_bytes` includes what the task shared with the warm parent. `reached` are
    the two numbers that it noted last (see `Channel.reached`). For `still_seconds`, no part of
    `wall_seconds`, the machine stood still; a clock of the task's own may have run on meanwhile.
    Of a task that ended with its last message (see `Supervisor.let_go`) nobody waited for the exit:
    code 0, and 0 for what it used.
    """

    status: Ending
    code: int | None
    signal: int | None
    messages: tuple[bytes, ...]
    cpu_seconds: float
    wall_seconds: float
    max_rss_bytes: int
    stderr: str
    reached: note.Numbers = note.NOTHING
    still_seconds: float = 0.0


Answer = Callable[[bytes], bytes | None]


@dataclass(frozen=True)
class Pipes:
    """The trusted ends of a task's pipes, its files, and what answers its questions.

    `errors` is what its standard error goes to, `page` what its note is in. `answer` takes a
    message and returns the reply to it, or None if the message is to be kept.
    """

    messages: int
    replies: int
    errors: IO[bytes]
    page: IO[bytes]
    answer: Answer


class Running:
    """A process that runs a task.

    `folder` is its private folder if that is on disk. While it is `held` it only waits to be told
    to go, and no time runs for it. `still` are the seconds in which the machine stood still.
    """

    def __init__(
        self,
        process: Process,
        pipes: Pipes,
        folder: Folder | None,
        limits: Limits,
        *,
        held: bool = False,
    ) -> None:
        self.process, self.folder, self.limits = process, folder, limits
        self.pipe, self.replies, self.answer = pipes.messages, pipes.replies, pipes.answer
        self.stderr, self.page = pipes.errors, pipes.page
        self.reader = Reader(limits)
        self.started, self.still = time.monotonic(), 0.0
        self.open = True
        self.held = held
        self.last, self.is_over, self.is_leaving = b"", False, False
        self.kept = 0
        self.unsent = bytearray()
        self.stopped: Ending | None = None
        os.set_blocking(self.pipe, False)
        os.set_blocking(self.replies, False)

    @property
    def deadline(self) -> float:
        """When its wall-clock time is up, by time.monotonic; never while held or once stopped."""
        if self.stopped or self.held:
            return float("inf")
        return self.started + self.still + self.limits.wall_seconds

    def descriptors(self) -> list[int]:
        """Return what to wait for: its end, and more from its pipe."""
        end = self.process.descriptor
        return [*([end] if end is not None else []), *([self.pipe] * self.open)]

    def stop(self, status: Ending) -> None:
        """Kill it and record that it ended as `status`, unless that was decided before."""
        self.stopped = self.stopped or status
        self.unsent.clear()
        self.process.kill()

    def let_go(self, message: bytes, limits: Limits, answer: Answer, last: bytes) -> None:
        """Let a held task go: its time runs from here, and it is told the message, however long."""
        self.held, self.limits, self.started = False, limits, time.monotonic()
        # A private folder on disk may be removed only once nothing writes into it any more.
        self.answer, self.last = answer, b"" if self.folder else last
        self.unsent += LENGTH.pack(len(message)) + message
        self.send_replies()

    def watch(self) -> Ended | None:
        """Read what has come and stop it past a limit; return how it ended once it is over.

        A task that is over has not timed out, however late this is called.
        """
        self.send_replies()
        self.read(until=self.deadline)
        if self.is_over and not self.stopped:
            return self.leave()
        if (end := self.process.ended()) is not None:
            return self.conclude(end)
        if self.reader.fault:
            self.stop(self.reader.fault)
        elif time.monotonic() >= self.deadline:
            self.stop(Ending.TIMED_OUT)
        elif self.folder and not self.stopped and too_large(self.folder.path, self.limits):
            self.stop(Ending.TOO_MANY_FILES)
        return None

    def read(self, until: float = float("inf")) -> None:
        """Read what is in the pipe, no more than the limits allow.

        A task may ask faster than it is answered, so that the pipe is never empty: past a time, the
        rest is left there.
        """
        while self.open and not self.reader.fault:
            if time.monotonic() >= until:
                return
            try:
                chunk = os.read(self.pipe, CHUNK)
            except BlockingIOError:
                return
            self.open = bool(chunk)
            self.reader.feed(chunk)
            self.answer_questions()
            self.open &= not self.is_over
        self.open = False

    def answer_questions(self) -> None:
        """Reply to the messages that are questions; keep the others."""
        kept = []
        for message in self.reader.messages[self.kept :]:
            reply = self.answer(message)
            if reply is None:
                kept.append(message)
            else:
                self.reader.forget(message)
                self.reply(reply)
            if self.last and message.startswith(self.last):
                self.is_over = True
                break
        self.reader.messages[self.kept :] = kept
        self.kept = len(self.reader.messages)

    def reply(self, message: bytes) -> None:
        """Send a reply; stop a task that takes none."""
        if not self.stopped:
            self.unsent += LENGTH.pack(len(message)) + message
            self.send_replies()
        if len(self.unsent) > MOST_UNSENT:
            self.stop(Ending.GARBLED)

    def send_replies(self) -> None:
        """Write what the pipe has room for: it may be small where a user has many of them.

        A task may end while it waits for a reply, which is then for nobody.
        """
        try:
            while self.unsent:
                del self.unsent[: os.write(self.replies, self.unsent)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.unsent.clear()

    def conclude(self, end: End) -> Ended:
        """Return how the process ended, and clean up."""
        # One that the machine ended while it waited must not use up the time of the next try.
        wall = 0.0 if self.held else time.monotonic() - self.started - self.still
        self.read()
        self.reader.end()
        ended = Ended(
            status=self.verdict(end.code, end.cpu_seconds),
            code=end.code if end.code >= 0 else None,
            signal=-end.code if end.code < 0 else None,
            messages=tuple(self.reader.messages),
            cpu_seconds=end.cpu_seconds,
            wall_seconds=wall,
            max_rss_bytes=end.max_rss_bytes,
            stderr=tail(self.stderr),
            reached=note.read(self.page.fileno()),
            still_seconds=self.still,
        )
        self.release()
        return ended

    def leave(self) -> Ended:
        """Return that it ended with its last message; what is left of it is taken down meanwhile.

        That takes the kernel some milliseconds. The rest is to be let go of when it `is_gone`.
        """
        wall, self.is_leaving = time.monotonic() - self.started - self.still, True
        self.process.kill()
        messages, said = tuple(self.reader.messages), tail(self.stderr)
        still = self.still
        return Ended(Ending.FINISHED, 0, None, messages, 0.0, wall, 0, said, still_seconds=still)

    def is_gone(self) -> bool:
        """Return whether the process has ended; clean up if so."""
        if self.process.ended() is None:
            return False
        self.release()
        return True

    def verdict(self, code: int, cpu: float) -> Ending:
        """Return the status, from what we did to it, its exit code and its CPU seconds."""
        if self.stopped:
            return self.stopped
        if not self.reader.ready:
            return Ending.NOT_ISOLATED
        spent = cpu > self.limits.cpu_seconds - CPU_ROUNDING
        if code in (-signal.SIGKILL, -signal.SIGXCPU) and spent:
            return Ending.TIMED_OUT
        if code and self.reader.fault != Ending.TOO_MUCH_OUTPUT:
            return Ending.CRASHED
        return self.reader.fault or Ending.FINISHED

    def release(self) -> None:
        """Close what is open for it and remove its folder."""
        os.close(self.pipe)
        os.close(self.replies)
        self.process.close()
        self.stderr.close()
        self.page.close()
        if self.folder:
            self.folder.remove()


def tail(stream: IO[bytes]) -> str:
    """Return the end of what was written, as text.

    A task writes through the same open file, and may have set it to be read in some other way.
    """
    fcntl.fcntl(stream, fcntl.F_SETFL, 0)
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - STDERR_TAIL))
    return stream.read(STDERR_TAIL).decode(errors="replace")
