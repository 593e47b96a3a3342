"""Tables of positions that are not trained, to compare with the sinusoids of lesson 04."""

import torch
from torch import Tensor, nn


class FixedPositions(nn.Module):
    """Adds row p of a fixed table to the word at position p.

    Args:
        table: (longest sentence, D).

    """

    table: Tensor

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table)

    def forward(self, x: Tensor) -> Tensor:
        """Add positions: (B, T, D) -> (B, T, D)."""
        placed: Tensor = x + self.table[: x.shape[1]]
        return placed


def clock(length: int, d_model: int, base: float) -> Tensor:
    """Return sinusoids whose last hand turns almost `base` times slower than the first.

    Args:
        length: number of positions.
        d_model: D, even.
        base: 10,000 in the paper; below 1, later hands are faster than the first.

    Returns:
        (length, D), sine in even columns and cosine in odd ones.

    """
    speeds = base ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length).unsqueeze(1) * speeds
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def random_rows(length: int, d_model: int, seed: int) -> Tensor:
    """Return unrelated rows (length, D), on average as long as those of a clock."""
    generator = torch.Generator().manual_seed(seed)
    rows: Tensor = torch.randn(length, d_model, generator=generator) / 2**0.5
    return rows


def likeness(table: Tensor) -> float:
    """Return the mean cosine between the rows of two neighbours; 1 if all agree."""
    return float(torch.cosine_similarity(table[1:], table[:-1], dim=-1).mean())


def apart(table: Tensor) -> float:
    """Return the mean distance between the rows of two neighbours."""
    return float(table.diff(dim=0).norm(dim=1).mean())
