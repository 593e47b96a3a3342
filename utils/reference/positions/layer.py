"""The stand-in for lesson 04's layer of sinusoids."""

from torch import Tensor, nn

from utils.reference.positions.sinusoids import sinusoidal_encoding


class PositionalEncoding(nn.Module):
    """A layer that adds sinusoids to x (B, T, D), then applies dropout."""

    pe: Tensor

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Add positions, (B, T, D) -> (B, T, D); raise ValueError if T is more than max_len."""
        dropped: Tensor = self.dropout(x + first(self.pe, x.shape[1]).to(x.dtype))
        return dropped


def first(table: Tensor, length: int) -> Tensor:
    """Return the first rows of a table (max_len, D); raise ValueError if it has too few."""
    if length > len(table):
        raise ValueError(f"a sequence of {length} tokens is longer than max_len = {len(table)}")
    return table[:length]
