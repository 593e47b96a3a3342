"""The stand-in for lesson 04's trained positions."""

import torch
from torch import Tensor, nn

from utils.reference.positions.layer import first


class LearnedPositionalEncoding(nn.Module):
    """A layer that adds a trained vector per position to x (B, T, D), then applies dropout."""

    def __init__(self, d_model: int, max_len: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.normal_(torch.empty(max_len, d_model), std=0.02))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Add positions, (B, T, D) -> (B, T, D); raise ValueError if T is more than max_len."""
        dropped: Tensor = self.dropout(x + first(self.weight, x.shape[1]))
        return dropped
