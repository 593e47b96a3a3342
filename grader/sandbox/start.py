"""Start a task: open its pipes and files, and have its process made."""

import contextlib
import fcntl
import os
import tempfile
from typing import IO, Final

from grader.sandbox import note
from grader.sandbox.child import Ends
from grader.sandbox.starting import Origin
from grader.sandbox.task import Answer, Pipes, Running
from grader.sandbox.walls.confine import Confinement

REPLY_BYTES: Final = 1 << 20  # that wait to be read; all that an ordinary user may have


def started(origin: Origin, plan: Confinement, answer: Answer, *, held: bool) -> Running:
    """Start a task behind the plan's walls; it runs, or waits if held.

    Raises:
        OSError: it cannot be started; nothing of it is left.

    """
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as undo:
        if plan.folder:
            undo.callback(plan.folder.remove)
        reading, writing = os.pipe()
        undo.callback(os.close, reading)
        theirs.callback(os.close, writing)
        hearing, replying = os.pipe()
        theirs.callback(os.close, hearing)
        undo.callback(os.close, replying)
        with contextlib.suppress(OSError, AttributeError):  # most replies are then sent at once
            fcntl.fcntl(replying, fcntl.F_SETPIPE_SZ, REPLY_BYTES)
        errors, page = (undo.enter_context(empty_file()) for _ in range(2))
        page.write(bytes(note.blank()))
        ends = Ends(writing, hearing, errors.fileno(), page.fileno())
        process = origin.start(plan, ends)
        undo.pop_all()
        pipes = Pipes(reading, replying, errors, page, answer)
        return Running(process, pipes, plan.folder, plan.limits, held=held)


def empty_file() -> IO[bytes]:
    """Open a file without a name."""
    return tempfile.TemporaryFile(buffering=0)
