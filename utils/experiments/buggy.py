"""Broken code, kept so that lessons can show its symptoms. Do not use it for anything else.

The functions are the pieces that repair exercises ask you to fix.
"""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from utils.experiments.broken_layer import broken_layer

__all__ = [
    "FaultyAttention",
    "broken_attention",
    "broken_encoding",
    "broken_layer",
    "broken_split_heads",
    "broken_stack",
    "encoding_without_minus",
    "symptoms",
    "with_fault",
]

Fault = Literal["none", "scale", "mask", "axis", "heads"]


def broken_attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Compute attention with one fault, for lesson 02's `repaired_attention`.

    Args:
        q: queries (..., T, Dk).
        k: keys (..., S, Dk).
        v: values (..., S, Dv).

    Returns:
        Output (..., T, Dv) and weights (..., T, S); right in shape only.

    """
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = scores.softmax(-2)
    return weights @ v, weights


def symptoms(q: Tensor, k: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """Compute the weights of a right attention and of lesson 02's three broken ones.

    Args:
        q: queries (T, Dk).
        k: keys (S, Dk).
        mask: (S,), True where a key may be attended to.

    Returns:
        "right", "A", "B" and "C", each (T, S).

    """
    spread = q.shape[-1] ** 0.5
    scores = q @ k.T / spread
    allowed = scores.masked_fill(~mask, -torch.inf)
    right = allowed.softmax(-1)
    too_late = scores.softmax(-1) * mask
    return {
        "right": right,
        "A": right.softmax(-1),
        "B": (allowed * spread).softmax(-1),
        "C": too_late,
    }


def broken_split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Split features into heads with one fault, for lesson 03's `repaired_split_heads`.

    Args:
        x: (B, T, D).
        n_heads: H.

    Returns:
        Heads (B, H, T, Dh); right in shape only.

    """
    size, length, d_model = x.shape
    pieces = torch.cat(x.chunk(n_heads, -1))
    return pieces.view(size, n_heads, length, d_model // n_heads)


def broken_encoding(max_len: int, d_model: int) -> Tensor:
    """Compute sinusoids with one fault, for lesson 04's `repaired_encoding`.

    Args:
        max_len: number of positions.
        d_model: number of columns, even.

    Returns:
        (max_len, d_model); right in shape only.

    """
    positions = torch.arange(max_len).unsqueeze(1)
    angles = positions * 10000.0 ** (-torch.arange(d_model) / d_model)
    return torch.stack([angles[:, 0::2].sin(), angles[:, 1::2].cos()], -1).flatten(1)


def encoding_without_minus(max_len: int, d_model: int) -> Tensor:
    """Compute sinusoids whose exponent lacks its minus sign, as popular texts have it.

    Args:
        max_len: number of positions.
        d_model: number of columns, even.

    Returns:
        (max_len, d_model); right in shape only.

    """
    positions = torch.arange(max_len).unsqueeze(1)
    frequencies = 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    angles = positions * frequencies
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def broken_stack(make_layer: Callable[[], nn.Module], n_layers: int) -> nn.ModuleList:
    """Build a stack with one fault, for lesson 05's `repaired_stack`.

    Args:
        make_layer: makes a new layer.
        n_layers: number of layers.

    """
    return nn.ModuleList([make_layer()] * n_layers)


class FaultyAttention(nn.Module):
    """Multi-head attention with the four layers of a right one and a fault that no shape shows.

    Args:
        attention: the right one, with w_q, w_k, w_v and w_o.
        n_heads: H.
        fault: "scale" (scores are not divided), "mask" (the mask is ignored), "axis" (softmax runs
            over the queries), "heads" (the split is a view without a transpose), or "none".
        dropout: dropout rate on the weights.
        turn: gives queries and keys (B, H, T, Dh) their positions, as rotary ones are.

    """

    def __init__(
        self,
        attention: Any,
        n_heads: int,
        fault: Fault,
        dropout: float = 0.0,
        turn: Callable[[Tensor], Tensor] = lambda heads: heads,
    ) -> None:
        super().__init__()
        self.w_q, self.w_k = attention.w_q, attention.w_k
        self.w_v, self.w_o = attention.w_v, attention.w_o
        self.n_heads, self.fault, self.dropout = n_heads, fault, nn.Dropout(dropout)
        self.turn = turn

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Map (B, T, D), twice (B, S, D), (B, T, S) to output (B, T, D), weights (B, H, T, S)."""
        q, k, v = self._cut(self.w_q(query)), self._cut(self.w_k(key)), self._cut(self.w_v(value))
        q, k = self.turn(q), self.turn(k)
        scores = q @ k.transpose(-2, -1)
        if self.fault != "scale":
            scores = scores / q.shape[-1] ** 0.5
        if mask is not None and self.fault != "mask":
            scores = scores.masked_fill(~mask.unsqueeze(1), torch.finfo(scores.dtype).min)
        weights = scores.softmax(-2 if self.fault == "axis" else -1)
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


def with_fault(
    encoder: Any,
    fault: Fault,
    n_heads: int,
    dropout: float = 0.0,
    turn: Callable[[Tensor], Tensor] = lambda heads: heads,
) -> Any:
    """Give every layer of an encoder an attention with this fault, in place.

    Args:
        encoder: an encoder whose layers have self_attention, like lesson 05's.
        fault: see `FaultyAttention`.
        n_heads: H.
        dropout: dropout rate on the weights.
        turn: see `FaultyAttention`.

    """
    for layer in encoder.layers:
        layer.self_attention = FaultyAttention(layer.self_attention, n_heads, fault, dropout, turn)
    return encoder
