"""Multi-head attention in plain operations: the stand-in for lesson 03's block."""

from torch import Tensor, nn
from torch.nn import functional as F

from utils.reference.attention.plain import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    """Attention in H heads, each with its own slice of the features.

    Raises:
        ValueError: d_model is not divisible by n_heads.

    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
        self.n_heads, self.dropout = n_heads, dropout
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Map (B, T, D), twice (B, S, D), (B, T, S) to output (B, T, D), weights (B, H, T, S)."""
        q, k, v = self._cut(self.w_q(query)), self._cut(self.w_k(key)), self._cut(self.w_v(value))
        shared = None if mask is None else mask.unsqueeze(1)  # the same for all heads
        output, weights = scaled_dot_product_attention(q, k, v, shared)
        if self.training and self.dropout > 0:
            output = F.dropout(weights, self.dropout) @ v  # the weights are given before dropout
        merged: Tensor = self.w_o(output.transpose(1, 2).flatten(2))
        return merged, weights

    def _cut(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.n_heads, -1).transpose(1, 2)
