"""Mistakes that any exercise can meet whose answer is an ``nn.Module``."""

from torch import nn

from utils.checks.exercise import Mistake


def no_forward(name: str, base: type[nn.Module]) -> Mistake:
    """A class without forward; torch's message has its name, so it is the exercise's."""
    return Mistake(
        "no_forward",
        "The class has no method called forward, and that is what calling a module runs.",
        "Read the name after `def` letter by letter, and look how far in it stands: as far as "
        "`def __init__`. Further in, it is a function inside of __init__.",
        type(name, (base,), {"forward": nn.Module.forward}),
    )


def own_dropout_rate(answer: type[nn.Module]) -> Mistake:
    """The answer drops out at a rate that nobody gave it."""
    return Mistake(
        "dropout_rate_not_used",
        "Dropout has a rate of its own: the one that the caller gave is not used.",
        "nn.Dropout() drops half, whatever __init__ was given. Which argument holds the rate?",
        answer,
    )
