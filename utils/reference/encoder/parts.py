"""Stand-ins for the small parts of lesson 05's layer."""

from torch import Tensor, nn
from torch.nn import functional as F


class LayerNorm(nn.LayerNorm):
    """Normalisation of the last axis, followed by gain (`weight`) and `bias`."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps)


class FeedForward(nn.Module):
    """Two linear layers with ReLU and dropout between them, applied to each position alone."""

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Transform x (..., D) -> (..., D)."""
        output: Tensor = self.linear_2(self.dropout(F.relu(self.linear_1(x))))
        return output
