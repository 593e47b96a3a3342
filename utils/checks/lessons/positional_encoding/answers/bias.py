"""ALiBi's bias: the right answer."""

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES


def bias_oracle(n_heads: int, length: int) -> Tensor:
    """Write down each entry by itself."""
    entries = [
        [
            [-(2.0 ** (-8 * head / n_heads)) * abs(t - s) for s in range(length)]
            for t in range(length)
        ]
        for head in range(1, n_heads + 1)
    ]
    return torch.tensor(entries)


EXERCISES = by_id(Exercise(PROBES["alibi_bias"], bias_oracle))
