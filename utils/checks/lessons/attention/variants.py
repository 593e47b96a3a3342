"""Parts of an attention done wrong, from which known mistakes are made."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from utils.checks.exercise import Mistake

RETURNED: dict[str, Callable[[Tensor, Tensor, Tensor], Any]] = {
    "both": lambda output, weights, scores: (output, weights),
    "output": lambda output, weights, scores: output,
    "weights": lambda output, weights, scores: weights,
    "swapped": lambda output, weights, scores: (weights, output),
    "scores": lambda output, weights, scores: (output, scores),
}


def q_k_transposed(q: Tensor, k: Tensor) -> Tensor:
    """Compare queries (..., T, Dk) with keys (..., S, Dk): (..., T, S)."""
    return q @ k.transpose(-2, -1)


def no_super_init() -> Mistake:
    """Make the mistake of a module that assigns a layer before nn.Module is set up."""

    class Unprepared(nn.Module):
        def __init__(self, *args: Any, **choices: Any) -> None:
            self.w_q = nn.Linear(1, 1)

    return Mistake(
        "no_super_init",
        "The first layer is assigned before nn.Module is set up: super().__init__() has not run.",
        "`super().__init__()` comes first in __init__: it makes the tables that layers go into.",
        Unprepared,
    )
