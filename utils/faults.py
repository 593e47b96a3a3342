"""Attention with one fault that no shape shows, for lesson 06's test of a popular claim."""

from typing import Any, Literal

import torch
from torch import Tensor, nn

Fault = Literal["none", "scale", "mask", "heads"]


class FaultyAttention(nn.Module):
    """Multi-head attention on the four layers of a right one.

    Args:
        attention: has w_q, w_k, w_v and w_o.
        n_heads: H.
        fault: "scale" (scores are not divided), "mask" (it is ignored), "heads" (the split is a
            view without transpose), or "none".
        dropout: on the weights.
    """

    def __init__(self, attention: Any, n_heads: int, fault: Fault, dropout: float = 0.0) -> None:
        super().__init__()
        self.w_q, self.w_k = attention.w_q, attention.w_k
        self.w_v, self.w_o = attention.w_v, attention.w_o
        self.n_heads, self.fault, self.dropout = n_heads, fault, nn.Dropout(dropout)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """(B, T, D), twice (B, S, D), (B, T, S) -> output (B, T, D), weights (B, H, T, S)."""
        q, k, v = self._cut(self.w_q(query)), self._cut(self.w_k(key)), self._cut(self.w_v(value))
        scores = q @ k.transpose(-2, -1)
        if self.fault != "scale":
            scores = scores / q.shape[-1] ** 0.5
        if mask is not None and self.fault != "mask":
            scores = scores.masked_fill(~mask.unsqueeze(1), torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        output: Tensor = self.w_o(self._joined(self.dropout(weights) @ v))
        return output, weights

    def _cut(self, x: Tensor) -> Tensor:
        size, length, d_model = x.shape
        if self.fault == "heads":
            return x.reshape(size, self.n_heads, length, d_model // self.n_heads)
        return x.view(size, length, self.n_heads, -1).transpose(1, 2)

    def _joined(self, heads: Tensor) -> Tensor:
        size, n_heads, length, width = heads.shape
        if self.fault == "heads":
            return heads.reshape(size, length, n_heads * width)
        return heads.transpose(1, 2).flatten(2)


def with_fault(encoder: Any, fault: Fault, n_heads: int, dropout: float = 0.0) -> Any:
    """Give every layer of an encoder an attention with this fault, in place.

    Args:
        encoder: has layers with self_attention, as lesson 05's.
        fault: see `FaultyAttention`.
        n_heads: H.
        dropout: on the weights.
    """
    for layer in encoder.layers:
        layer.self_attention = FaultyAttention(layer.self_attention, n_heads, fault, dropout)
    return encoder
