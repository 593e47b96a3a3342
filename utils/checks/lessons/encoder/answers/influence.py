"""The influence of one token on another: the right answer; known mistakes are patches of it."""

from typing import Any

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.encoder.probes import PROBES


def influence_oracle(encoder: Any, ids: Tensor, source: int, target: int) -> float:
    """Compare both sentences in one batch in eval mode, then restore the encoder's mode."""
    was = encoder.training
    encoder.eval()
    with torch.no_grad():
        x = encoder.embed(ids.unsqueeze(0))[0]
        gone = (torch.arange(len(ids)) == source).unsqueeze(-1)
        before, after = encoder.encode(torch.stack([x, x.masked_fill(gone, 0.0)]))[:, target]
    encoder.train(was)
    return float(torch.linalg.vector_norm(after - before))


EXERCISES = by_id(Exercise(PROBES["influence"], influence_oracle, tolerance=1e-4))
