"""Checks that explain mistakes: ``check.<exercise>(answer)`` in a notebook.

A probe questions the answer (``observe``); an oracle and a bank of known mistakes judge it
(``judge``). The two halves exchange only plain data, so that grading can run them in different
processes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utils.checks.api import check

__all__ = ["check"]


def __getattr__(name: str) -> Any:
    """Load the checks, and torch with them, when they are asked for: much of the grader never is.

    Raises:
        AttributeError: another name is asked for.

    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module("utils.checks.api"), name)
    return globals()[name]
