"""A word that varies the random inputs of a hidden case, so that classes get different ones.

The solutions are public, and with them the hidden cases. An instructor's secret gives each hidden
case a word of its own; everything drawn for the case then depends on it, and nothing else does:
sizes, kinds and number types stay what the case tests.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

VARIATION: Final = "variation"  # the parameter of a case that holds its word
_word: ContextVar[str] = ContextVar("variation", default="")


@contextmanager
def varied_by(word: str) -> Iterator[None]:
    """Let all that is drawn inside depend on a word; "" stands for none."""
    before = _word.set(word)
    try:
        yield
    finally:
        _word.reset(before)


def current_variation() -> str:
    """Return the word in force; "" if there is none."""
    return _word.get()
