"""Lines to and from another process, with a limit on every wait."""

import os
import select
import time
from typing import IO, Final

CHUNK: Final = 1 << 16


class Silent(Exception):
    """The other process did nothing for too long."""


class Ended(Exception):
    """The other process has ended, or closed its pipes."""


class Lines:
    """Another process's pipes, by lines of bytes."""

    def __init__(self, to: IO[bytes], back: IO[bytes]) -> None:
        self._to, self._back = to.fileno(), back.fileno()
        os.set_blocking(self._to, False)
        self._taken = bytearray()

    def write(self, line: bytes, seconds: float) -> None:
        """Send a line.

        Raises:
            Silent: the other side takes nothing for so many seconds.
            Ended: it is gone.

        """
        left = memoryview(line + b"\n")
        while left:
            if not select.select([], [self._to], [], seconds)[1]:
                raise Silent
            try:
                left = left[os.write(self._to, left[:CHUNK]) :]
            except BrokenPipeError:
                raise Ended from None

    def read(self, seconds: float) -> bytes:
        """Return the next line.

        Raises:
            Silent: no whole line came in so many seconds.
            Ended: the other side is gone.

        """
        until, searched = time.monotonic() + seconds, 0
        while (end := self._taken.find(b"\n", searched)) < 0:
            searched = len(self._taken)
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._back], [], [], left)[0]:
                raise Silent
            chunk = os.read(self._back, CHUNK)
            if not chunk:
                raise Ended
            self._taken += chunk
        line = bytes(self._taken[:end])
        del self._taken[: end + 1]
        return line
