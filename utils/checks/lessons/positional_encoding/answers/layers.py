"""The layers of lesson 04 that add positions: right answers, and mistakes that no patch says."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.authoring.common_mistakes import (
    dropout_by_default,
    keep_buffer,
    keep_parameter,
    no_forward,
    no_set_up,
)
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.reference.positions.by_rotation import reference_encoding


class _Layer(nn.Module):
    """A layer that adds the first rows of a table."""

    usual_rate = 0.0

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float | None = None) -> None:
        super().__init__()
        self.max_len = max_len
        self.rate = self.usual_rate if dropout is None else dropout

    def forward(self, x: Tensor) -> Tensor:
        """Add positions to x (B, T, D)."""
        if x.shape[1] > self.max_len:
            raise ValueError("too long")
        rows: Tensor = self.rows()[: x.shape[1]].to(x.dtype)
        return F.dropout(x + rows, self.rate, self.training)

    def rows(self) -> Tensor:
        """Return the table, (max_len, D)."""
        raise NotImplementedError


class PositionalEncoding(_Layer):
    """The layer whose table holds sinusoids."""

    pe: Tensor

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float | None = None) -> None:
        super().__init__(d_model, max_len, dropout)
        self.register_buffer("pe", reference_encoding(max_len, d_model))

    def rows(self) -> Tensor:
        """Return the buffer."""
        return self.pe


class LearnedPositionalEncoding(_Layer):
    """The layer whose table is learned."""

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float | None = None) -> None:
        super().__init__(d_model, max_len, dropout)
        self.weight = nn.Parameter(torch.randn(max_len, d_model))

    def rows(self) -> Tensor:
        """Return the parameter."""
        return self.weight


def _mistakes(kind: type[_Layer], keep: Any) -> tuple[Mistake, ...]:
    dropping = type(kind.__name__, (kind,), {"usual_rate": 0.1})
    name = kind.__name__
    return no_forward(name, kind), no_set_up(name, keep), dropout_by_default(dropping)


EXERCISES = by_id(
    Exercise(
        PROBES["PositionalEncoding"],
        PositionalEncoding,
        _mistakes(PositionalEncoding, keep_buffer),
        tolerance=1e-4,
    ),
    Exercise(
        PROBES["LearnedPositionalEncoding"],
        LearnedPositionalEncoding,
        _mistakes(LearnedPositionalEncoding, keep_parameter),
    ),
)
