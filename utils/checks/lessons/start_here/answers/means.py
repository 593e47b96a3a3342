"""The masked mean: an independent right answer."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.start_here.probes import PROBES


def mean_oracle(x: Tensor, mask: Tensor) -> Tensor:
    """Sum the true positions of each sequence by embedding_bag, then divide by their number."""
    rows = x.reshape(-1, x.shape[-1])
    kept = mask.flatten().nonzero().flatten()
    offsets = torch.cat([mask.sum(1).new_zeros(1), mask.sum(1).cumsum(0)])[:-1]
    return F.embedding_bag(kept, rows, offsets, mode="sum") / mask.sum(1, keepdim=True).clamp(min=1)


EXERCISES = by_id(Exercise(PROBES["masked_mean"], mean_oracle))
