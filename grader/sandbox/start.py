"""A task on its way: its pipes and files are there, and its process soon is."""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable
from typing import IO, Final

from grader.sandbox import note
from grader.sandbox.child import Ends
from grader.sandbox.confine import Confinement
from grader.sandbox.starting import Origin, Process
from grader.sandbox.task import Answer, Pipes, Running

REPLY_BYTES: Final = 1 << 20  # that wait to be read; all that an ordinary user may have


class Start:
    """A task that was asked for: it goes behind the plan's walls and runs, or waits if held.

    Raises:
        OSError: it cannot be started.

    """

    def __init__(self, origin: Origin, plan: Confinement, answer: Answer, *, held: bool) -> None:
        self._plan, self._held = plan, held
        self._undo = contextlib.ExitStack()  # closes and removes what is there for it
        if plan.folder:
            self._undo.callback(plan.folder.remove)
        try:
            self._pipes, self._process = self._ask(origin, answer)
        except OSError:
            self._undo.close()
            raise

    def _ask(self, origin: Origin, answer: Answer) -> tuple[Pipes, Callable[[], Process]]:
        """Open its pipes and files, and have its process started."""
        with contextlib.ExitStack() as theirs:
            reading, writing = os.pipe()
            self._undo.callback(os.close, reading)
            theirs.callback(os.close, writing)
            hearing, replying = os.pipe()
            theirs.callback(os.close, hearing)
            self._undo.callback(os.close, replying)
            with contextlib.suppress(OSError, AttributeError):  # most replies are then sent at once
                fcntl.fcntl(replying, fcntl.F_SETPIPE_SZ, REPLY_BYTES)
            errors, page = (self._undo.enter_context(empty_file()) for _ in range(2))
            page.write(bytes(note.blank()))
            ends = Ends(writing, hearing, errors.fileno(), page.fileno())
            return Pipes(reading, replying, errors, page, answer), origin.ask(self._plan, ends)

    def running(self) -> Running:
        """Wait until it is there; raises OSError if it cannot be started."""
        try:
            process = self._process()
        except OSError:
            self._undo.close()
            raise
        return Running(process, self._pipes, self._plan.folder, self._plan.limits, held=self._held)


def empty_file() -> IO[bytes]:
    """Open a file without a name."""
    return tempfile.TemporaryFile(buffering=0)
