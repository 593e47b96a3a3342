"""Building masks: right answers."""

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.attention.probes import PROBES


def padding_oracle(lengths: Tensor, max_len: int) -> Tensor:
    """Build the mask entry by entry: position s is real when s < the sentence's length."""
    rows = [[[s < int(n) for s in range(max_len)]] for n in lengths]
    return torch.tensor(rows, dtype=torch.bool).to(lengths.device)


def causal_oracle(size: int) -> Tensor:
    """Build the mask entry by entry: position t may look at s when s <= t."""
    return torch.tensor([[[s <= t for s in range(size)] for t in range(size)]])


EXERCISES = by_id(
    Exercise(PROBES["padding_mask"], padding_oracle),
    Exercise(PROBES["causal_mask"], causal_oracle),
)
