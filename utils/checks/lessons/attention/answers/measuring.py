"""How far a gradient reaches: a right answer."""

from collections.abc import Callable

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.attention.probes import PROBES

Run = Callable[[Tensor], Tensor]
# Not torch.func's: those load torch's compiler, which takes a second and 60 MiB.
_jacobian: Callable[..., Tensor] = torch.autograd.functional.jacobian


def reach_oracle(run: Run, x: Tensor) -> Tensor:
    """Take the rows of torch's Jacobian, sentence by sentence."""
    jacobian = _jacobian(lambda x: run(x)[:, -1].sum(-1), x)  # (B, B, T, D)
    own = jacobian.diagonal(dim1=0, dim2=1).permute(2, 0, 1)  # (B, T, D)
    norms: Tensor = torch.linalg.vector_norm(own, dim=-1).mean(0)
    return norms


EXERCISES = by_id(Exercise(PROBES["gradient_by_distance"], reach_oracle, tolerance=1e-4))
