"""How a task's results reach the trusted side: bytes after their length, nothing else.

The task controls the writing end, so the reading end trusts nothing: it stops at the first length
that the limits do not allow, and keeps the whole messages that came before.
"""

import os
import struct
from enum import StrEnum
from typing import Final

from grader.sandbox import note
from grader.sandbox.walls.limits import Limits

LENGTH: Final = struct.Struct("<I")
READY: Final = b"R"
MOST_LATER: Final = 1 << 16  # bytes of messages that wait to be sent with others


class Ending(StrEnum):
    """The ways a task can end."""

    FINISHED = "finished"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"
    TOO_MUCH_OUTPUT = "too much output"
    TOO_MANY_FILES = "too many files"
    GARBLED = "garbled"
    NOT_ISOLATED = "not isolated"


class Channel:
    """The task's end: messages go out on one descriptor, replies come in on another.

    Attributes:
        reached: two numbers that say how far it came; the trusted side reads them at its end.
        at_once: whether nothing is to wait: what waits is lost with a task that crashes.

    """

    def __init__(self, descriptor: int, replies: int, reached: note.Note | None = None) -> None:
        self.descriptor, self.replies = descriptor, replies
        self.reached = reached or note.blank()
        self.at_once = False
        self._later = bytearray()

    def send(self, message: bytes) -> None:
        """Send one message; raises BrokenPipeError if the other side has stopped reading."""
        self.send_later(message)
        self.flush()

    def send_later(self, message: bytes) -> None:
        """Send one message along with others, so that the other side is woken once for them."""
        self._later += LENGTH.pack(len(message)) + message
        if self.at_once or len(self._later) > MOST_LATER:
            self.flush()

    def flush(self) -> None:
        """Send what was to be sent later."""
        rest, self._later = memoryview(self._later), bytearray()
        while rest:
            rest = rest[os.write(self.descriptor, rest) :]

    def ask(self, message: bytes) -> bytes:
        """Send one message and wait for the trusted side's reply.

        Raises EOFError if the trusted side has ended.
        """
        self.send(message)
        return self.wait()

    def wait(self) -> bytes:
        """Wait for the trusted side to say something, and return it.

        Raises EOFError if the trusted side has ended.
        """
        return self._take(LENGTH.unpack(self._take(LENGTH.size))[0])

    def _take(self, size: int) -> bytes:
        taken = b""
        while len(taken) < size:
            chunk = os.read(self.replies, size - len(taken))
            if not chunk:
                raise EOFError("no reply")
            taken += chunk
        return taken


class Reader:
    """The trusted end: takes bytes as they come and keeps the whole messages among them."""

    def __init__(self, limits: Limits) -> None:
        self.messages: list[bytes] = []
        self.ready = False
        self.fault: Ending | None = None
        self._left = limits.result_bytes + len(READY)
        self._left_for_questions = limits.question_bytes
        self._most = limits.messages
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; drop them after a fault."""
        if self.fault:
            return
        self._rest += chunk[: self._left]
        self._left -= len(chunk)
        self._take_ready()
        while self.fault is None and self._take_message():
            pass
        if self._left < 0:
            self._fail(Ending.TOO_MUCH_OUTPUT)

    def forget(self, message: bytes) -> None:
        """Count a message that was answered, and is not kept, among the questions."""
        counted = min(LENGTH.size + len(message), self._left_for_questions)
        self._left_for_questions -= counted
        self._left += counted

    def end(self) -> None:
        """Finish: no more will come, so half a message is a fault."""
        if self._rest and self.ready and not self.fault:
            self._fail(Ending.GARBLED)

    def _take_ready(self) -> None:
        if not self.ready and self._rest:
            self.ready = self._rest.startswith(READY)
            del self._rest[: len(READY)]

    def _take_message(self) -> bool:
        if not self.ready or len(self._rest) < LENGTH.size:
            return False
        (length,) = LENGTH.unpack_from(self._rest)
        whole = LENGTH.size + length
        too_long = whole > len(self._rest) + max(self._left, 0)
        if too_long or len(self.messages) == self._most:
            self._fail(Ending.TOO_MUCH_OUTPUT)
        elif whole <= len(self._rest):
            self.messages.append(bytes(self._rest[LENGTH.size : whole]))
            del self._rest[:whole]
            return True
        return False

    def _fail(self, fault: Ending) -> None:
        self.fault = fault
        self._rest.clear()
