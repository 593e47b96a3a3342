"""Jupyter's names as cells find them while they are graded: there, and without effect."""

import pdb
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Self

import IPython
from IPython.core import debugger
from IPython.display import display

from grader.workers.notebook.inert import Inert


class Nothing(Inert):
    """Stands for the shell and for all that it gives: whatever is asked of it, it does nothing.

    It is false and empty: libraries that ask for a shell then go on without one.
    """

    def __setattr__(self, _name: str, _value: object) -> None:
        pass

    def __getitem__(self, _key: object) -> Self:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0

    def __int__(self) -> int:
        return 0

    def __str__(self) -> str:
        return ""

    def __format__(self, _form: str) -> str:
        return ""


NOTHING = Nothing()


def get_ipython() -> Nothing:
    """Return what stands for the shell."""
    return NOTHING


def give_names(module: ModuleType) -> None:
    """Add the names that a notebook has: the shell, `display`, and what earlier cells showed.

    Nobody is there to answer: `input()` returns nothing, and no debugger stops.
    """
    IPython.get_ipython = get_ipython  # where cells may import it from
    vars(pdb)["set_trace"] = vars(debugger)["set_trace"] = NOTHING
    silent = ("_", "__", "___", "In", "Out", "input", "breakpoint")
    shown = dict.fromkeys(silent, NOTHING)
    vars(module).update(shown, display=display, get_ipython=get_ipython)
