"""A stuck exercise stops no lesson: the course lends its own part for the rest of it.

`lend("split_heads")`, in a cell of its own, puts the course's `split_heads` in the place of yours
in this notebook's memory. Your cell stays as it is, earns no points through this, and can be
mended and run again at any time. While grading nothing is lent.
"""

import importlib
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from utils.checks.registry import exercises, find_exercise
from utils.kernel.runs import is_grading
from utils.kernel.say import say
from utils.progress.tries import mark_lent
from utils.reference import BLOCKS


def lend(name: str) -> None:
    """Put the course's part in the place of yours, for the rest of this lesson.

    A printed line says what was done. A prediction or a test is not lent: a lesson goes on
    without it.

    Args:
        name: the exercise's id, such as "split_heads".

    """
    say(_lent(name))


def _lent(name: str) -> str:
    """Lend a part if that can be done, and return what was done."""
    if is_grading():  # nor is there anything to ask then
        return f"{name} is lent in a notebook only, and not while grading."
    if name not in exercises():
        return f"Nothing is called {name!r} here. Write the name as in the exercise's heading."
    if not find_exercise(name).probe.is_lendable:
        return f"{name} is not lent: nothing in the lesson is built on it. Go on without it."
    if not InteractiveShell.initialized():
        return f"{name} is lent in a notebook only, and not while grading."
    part = _part(name)
    InteractiveShell.instance().user_ns[name] = part
    mark_lent(name, part)
    return (
        f"{name} is the course's from here on. No points for that: when yours is ready, run its "
        "cell again."
    )


def _part(name: str) -> Any:
    """Return a block as later lessons use it, else what answers are compared with."""
    if name in BLOCKS:
        return getattr(importlib.import_module("utils.reference.modules"), name)
    return find_exercise(name).oracle
