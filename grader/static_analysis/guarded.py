"""Readings that decide no points must not cost any: one that fails gives a cautious answer."""

from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def guarded(read: Callable[[], Answer], cautious: Answer) -> Answer:
    """Return what a reading finds, or the cautious answer if it fails in any way.

    A text can be made on which Python's own readers give up: by its depth, by a number of thousands
    of digits, by what only a compiler refuses. A whole notebook must not stay ungraded for that.
    """
    try:
        return read()
    except Exception:
        return cautious
