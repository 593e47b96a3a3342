"""Keep what asks or ends a notebook out of a check: breakpoints, `input()`, `exit()`.

A check calls an answer many times, and nobody can answer in the middle of it.
"""

import bdb
import builtins
import getpass
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn
from unittest import mock

from IPython.core.interactiveshell import InteractiveShell

from utils.checks.observe.forbidden import Forbidden

_ASKS = (
    "Your code calls {}, which waits for an answer, and nobody can answer while a check runs. Take "
    "it out, or call your code in a cell of its own."
)
_ENDS = "Your code calls {}, which ends the notebook's kernel. To end a function, write `return`."


@contextmanager
def no_prompts() -> Iterator[None]:
    """Stop an answer that would ask something or end the kernel, with a sentence."""
    with ExitStack() as stack:
        for place, name, called in (
            (sys, "breakpointhook", "`breakpoint()`"),
            (bdb.Bdb, "set_trace", "`set_trace()`"),
            (builtins, "input", "`input()`"),
            (getpass, "getpass", "`getpass()`"),
        ):
            stack.enter_context(mock.patch.object(place, name, _refusing(_ASKS.format(called))))
        if InteractiveShell.initialized():
            ends = _refusing(_ENDS.format("`exit()` or `quit()`"))
            stack.enter_context(
                mock.patch.object(InteractiveShell.instance(), "ask_exit", ends, create=True)
            )
        yield


def _refusing(words: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **_named: Any) -> NoReturn:
        raise Forbidden(words)

    return refuse
