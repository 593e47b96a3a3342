"""Mistakes that can occur in any exercise whose answer is an ``nn.Module``."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from utils.checks.exercise import Mistake


def no_forward(name: str, base: type[nn.Module]) -> Mistake:
    """Make the mistake of a class without forward.

    The class has the exercise's name, because torch's message shows it.
    """
    return Mistake(
        "no_forward",
        "The class has no method called forward, and that is what calling a module runs.",
        "Check the spelling of the name after `def`, and its indentation, which must be that of "
        "`def __init__`. Indented further, it is a function inside __init__.",
        type(name, (base,), {"forward": nn.Module.forward}),
    )


def dropout_by_default(answer: type[nn.Module]) -> Mistake:
    """Make the mistake of dropping out where the caller gives no rate."""
    return Mistake(
        "dropout_by_default",
        "Two calls differ where nothing should be random: dropout acts although the caller gave "
        "no rate, or something random is created again in each forward.",
        "Does your __init__ have the same defaults as the stub, and does nn.Dropout get the rate "
        "that __init__ was given? Layers are made once, in __init__.",
        answer,
    )


def no_set_up(name: str, keep: Callable[[Any], object]) -> Mistake:
    """Make the mistake of an ``__init__`` that does not call that of ``nn.Module`` first.

    Args:
        name: the class's name, because torch's message may show it.
        keep: keeps the first parameter, buffer or module in the object that is made.

    """

    def begin(self: Any, *_: object, **__: object) -> None:
        keep(self)

    return Mistake(
        "no_super_init",
        "A layer, parameter or buffer is assigned before nn.Module is set up: super().__init__() "
        "has not run.",
        "`super().__init__()` comes first in __init__.",
        type(name, (nn.Module,), {"__init__": begin}),
    )


def keep_module(made: Any) -> None:
    """Keep a module in an object."""
    made.part = nn.Identity()


def keep_parameter(made: Any) -> None:
    """Keep a parameter in an object."""
    made.part = nn.Parameter(torch.ones(1))


def keep_buffer(made: Any) -> None:
    """Keep a buffer in an object."""
    made.register_buffer("part", torch.ones(1))
