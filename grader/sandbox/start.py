"""A task on its way: its pipes and files are there, and its process soon is."""

import contextlib
import fcntl
import os
import tempfile
from typing import IO, Final

from grader.sandbox import note
from grader.sandbox.child import Ends
from grader.sandbox.confine import Confinement
from grader.sandbox.starting import Origin
from grader.sandbox.task import Answer, Pipes, Running

REPLY_BYTES: Final = 1 << 20  # that wait to be read; all that an ordinary user may have


class Start:
    """A task that was asked for: it goes behind the plan's walls and runs, or waits if held.

    Raises:
        OSError: it cannot be started.

    """

    def __init__(self, origin: Origin, plan: Confinement, answer: Answer, *, held: bool) -> None:
        self._plan, self._held = plan, held
        (reading, writing), (hearing, replying) = os.pipe(), os.pipe()
        with contextlib.suppress(OSError, AttributeError):  # most replies are then written at once
            fcntl.fcntl(replying, fcntl.F_SETPIPE_SZ, REPLY_BYTES)
        errors, page = empty_file(), empty_file()
        self._pipes = Pipes(reading, replying, errors, page, answer)
        try:
            page.write(bytes(note.blank()))
            ends = Ends(writing, hearing, errors.fileno(), page.fileno())
            self._process = origin.ask(plan, ends)
        except OSError:
            self._give_up()
            raise
        finally:
            os.close(writing)
            os.close(hearing)

    def running(self) -> Running:
        """Wait until it is there; raises OSError if it cannot be started."""
        try:
            process = self._process()
        except OSError:
            self._give_up()
            raise
        return Running(process, self._pipes, self._plan.folder, self._plan.limits, held=self._held)

    def _give_up(self) -> None:
        """Close and remove what is there for it."""
        os.close(self._pipes.messages)
        os.close(self._pipes.replies)
        self._pipes.errors.close()
        self._pipes.page.close()
        if self._plan.folder:
            self._plan.folder.rmdir()


def empty_file() -> IO[bytes]:
    """Open a file without a name."""
    return tempfile.TemporaryFile(buffering=0)
