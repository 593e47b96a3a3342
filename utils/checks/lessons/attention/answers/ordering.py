"""What order does to a layer: a right answer."""

from collections.abc import Callable

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.attention.probes import PROBES

Run = Callable[[Tensor], Tensor]


def order_oracle(layer: Run, x: Tensor, order: Tensor) -> float:
    """Multiply by the permutation's matrix, before and after."""
    matrix = torch.eye(len(order), dtype=x.dtype)[order]
    return float(torch.dist(layer(matrix @ x).detach(), (matrix @ layer(x)).detach()))


EXERCISES = by_id(Exercise(PROBES["breaks_equivariance"], order_oracle, tolerance=1e-4))
