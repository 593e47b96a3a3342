"""A start on the task's side: from the copied warm process to the task's first line."""

import fcntl
import os
import sys
import traceback
from collections.abc import Callable
from typing import Final, NamedTuple, NoReturn, TextIO, cast

from grader.sandbox import note
from grader.sandbox.channel import READY, Channel
from grader.sandbox.walls.confine import CHANNEL, REPLIES, Confinement, confine

Task = Callable[[Channel], None]
SETUP_FAILED: Final = 125
ABOVE_ALL: Final = 10  # descriptors moved here cannot be overwritten while 0 to 4 are set


class Ends(NamedTuple):
    """The descriptors that a task's process is born with.

    Attributes:
        messages: where its messages go out.
        replies: where replies come in.
        errors: the file that its standard error goes to.
        page: a file with room for its note.

    """

    messages: int
    replies: int
    errors: int
    page: int


def live(task: Task, plan: Confinement, ends: Ends) -> NoReturn:
    """Confine this process, run the task and exit: never return, whatever is raised."""
    code = SETUP_FAILED
    try:
        os.setsid()
        reached = note.opened(ends.page)
        keep_only(ends.messages, ends.replies, ends.errors)
        confine(plan)
        os.write(CHANNEL, READY)
        code = 1
        task(Channel(CHANNEL, REPLIES, reached))
        sys.stderr.flush()
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def keep_only(pipe: int, replies: int, stderr: int) -> None:
    """Put the pipes at 3 and 4, `stderr` at 2, /dev/null at 0 and 1, and close all else."""
    numbers = (pipe, replies, stderr)
    pipe, replies, stderr = (fcntl.fcntl(n, fcntl.F_DUPFD, ABOVE_ALL) for n in numbers)
    null = fcntl.fcntl(os.open(os.devnull, os.O_RDWR), fcntl.F_DUPFD, ABOVE_ALL)
    places = ((null, 0), (null, 1), (stderr, 2), (pipe, CHANNEL), (replies, REPLIES))
    for source, target in places:
        os.dup2(source, target)
    os.closerange(REPLIES + 1, os.sysconf("SC_OPEN_MAX"))
    sys.stdin, sys.stdout, sys.stderr = (stream(number, mode) for number, mode in enumerate("rww"))


def stream(number: int, mode: str) -> TextIO:
    """Open a new text stream: the warm parent's may hold unwritten text."""
    raw = os.fdopen(number, mode, encoding="utf-8", errors="replace", closefd=False)
    return cast("TextIO", raw)
