"""Put on record what a check found, from within a learner's notebook."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from utils.kernel.runs import watch
from utils.progress.record import Record, checksum, read, write

# Where `make lab` puts a learner's copies. Notebooks that run elsewhere (the course's own, those
# that are graded) are nobody's progress.
LEARN = Path(__file__).resolve().parents[2] / "learn"


def record_check(exercise: str, answer: Any, *, passed: bool, started: bool) -> None:
    """Record a check if it runs in one of the learner's lessons and judged the lesson's answer.

    A record that cannot be written (a read-only or full disk) must not disturb the check: it is
    left out, and the exercise stands on the start page as it did before.

    Args:
        exercise: the exercise's id, which is also the answer's name in the notebook.
        answer: what was checked; another object than the notebook's own is nobody's answer.
        passed: whether every visible case passed.
        started: whether the exercise was written at all.

    """
    if not InteractiveShell.initialized():
        return
    shell = InteractiveShell.instance()
    if exercise not in shell.user_ns or shell.user_ns[exercise] is not answer:
        return
    lesson = lesson_here()
    if lesson is None:
        return
    with suppress(OSError):
        _update(lesson, exercise, passed, started, _defining_cell(exercise))


def lesson_here() -> str | None:
    """Return the learner's lesson in which this notebook runs; None if it runs elsewhere."""
    if not InteractiveShell.initialized():
        return None
    try:
        folder = Path.cwd().resolve()
    except OSError:  # the folder is gone
        return None
    return folder.name if folder.parent == LEARN else None


def _update(lesson: str, exercise: str, passed: bool, started: bool, cell: str | None) -> None:
    now = time.time()
    before = read(LEARN, lesson, exercise)
    last_passed = before.last_passed if before else None
    last_passed = now if passed else last_passed
    write(LEARN, lesson, exercise, Record(now, passed, started, cell, last_passed))


def _defining_cell(name: str) -> str | None:
    """Return the checksum of the cell as it was when it gave a name its value."""
    log = watch()
    maker = log.maker_of(name) if log else None
    return checksum(maker.source) if maker else None
