"""Modules that are only names while a notebook is graded.

The lessons' experiments are not run then, and some of their helpers are right answers: an attention
with its fault turned off, a table of sinusoids, a picture that needs a stable softmax. Their names
can be imported, but not used.
"""

import sys
from types import ModuleType
from typing import Any, Final, NoReturn, Self

from utils.checks.framework.forbidden import Forbidden

HOLLOW: Final = (
    "utils.drawn",
    "utils.experiments.against_torch",
    "utils.experiments.buggy",
    "utils.experiments.fixed_positions",
    "utils.experiments.head_bugs",
    "utils.experiments.lookup_task",
    "utils.experiments.recurrence",
    "utils.experiments.reversal_task",
    "utils.experiments.seq2seq",
    "utils.experiments.topic_task",
    "utils.experiments.train",
    "utils.experiments.word_order_task",
    "utils.plots.attention",
    "utils.training.baseline_encoders",
    "utils.training.distributed",
    "utils.training.trainer",
    "utils.treebank.affixes",
    "utils.treebank.taggers",
)


class Gone:
    """What stands under a name that is not here.

    Args:
        name: its dotted name.

    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_args: object, **_named: object) -> NoReturn:
        """Refuse, whatever the arguments."""
        raise Forbidden(
            f"{self._name} is for the lesson's experiments, which are not run while grading."
        )

    def __or__(self, _other: object) -> Self:
        """Stand in an annotation: ``History | None``."""
        return self

    __ror__ = __or__


class HollowModule(ModuleType):
    """A module in which every name stands for something that is gone."""

    def __getattr__(self, name: str) -> Any:
        """Return what refuses, except for names that Python itself asks for."""
        if name.startswith("__"):
            raise AttributeError(name)
        return Gone(f"{self.__name__}.{name}")


def hollow_out() -> None:
    """Put hollow modules in the place of those named here, before anything imports them."""
    for name in HOLLOW:
        sys.modules[name] = HollowModule(name)
