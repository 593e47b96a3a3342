"""The table of dot products: an independent right answer."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.start_here.probes import PROBES


def dot_oracle(a: Tensor, b: Tensor) -> Tensor:
    """Apply torch's bilinear form with the identity to every pair of vectors."""
    sizes = (len(a), a.shape[1], b.shape[1], a.shape[2])
    left, right = a[:, :, None].expand(sizes), b[:, None].expand(sizes)
    identity = torch.eye(a.shape[-1], dtype=a.dtype)[None]
    return F.bilinear(left.contiguous(), right.contiguous(), identity).squeeze(-1)


EXERCISES = by_id(Exercise(PROBES["pairwise_dot"], dot_oracle))
