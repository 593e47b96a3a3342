"""Rotary positions with torch's fused attention: lesson 06's RotaryAttention, made for speed."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Rotate = Callable[[Tensor, float], Tensor]


class FusedRotaryAttention(nn.Module):
    """An attention's four layers, with queries and keys turned by their positions.

    It is self-attention: query, key and value come from the same sentences. torch's fused
    attention does the rest and returns no weights.

    Args:
        attention: has w_q, w_k, w_v and w_o.
        n_heads: H.
        turns: (2, max_len, Dh), cosines and sines from `turning_table`.
        dropout: dropout rate on the weights.

    """

    turns: Tensor

    def __init__(self, attention: Any, n_heads: int, turns: Tensor, dropout: float = 0.0) -> None:
        super().__init__()
        self.w_q, self.w_k = attention.w_q, attention.w_k
        self.w_v, self.w_o = attention.w_v, attention.w_o
        self.n_heads, self.dropout = n_heads, dropout
        self.register_buffer("turns", turns, persistent=False)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, None]:
        """Map three times (B, T, D) and (B, 1 or T, T) to output (B, T, D), without weights."""
        qkv = self._projected(query, key, value).view(*query.shape[:2], 3 * self.n_heads, -1)
        qk, v = torch.split(qkv, [2 * self.n_heads, self.n_heads], 2)  # (B, T, 2 H or H, Dh)
        q, k = self._turned(qk).transpose(1, 2).chunk(2, 1)  # (B, H, T, Dh) each
        shared = None if mask is None else mask.unsqueeze(1)  # the same for all heads
        dropout = self.dropout if self.training else 0.0
        found = F.scaled_dot_product_attention(q, k, v.transpose(1, 2), shared, dropout)
        return self.w_o(found.transpose(1, 2).flatten(2)), None

    def _projected(self, *inputs: Tensor) -> Tensor:
        """Return queries, keys and values side by side, (B, T, 3 D)."""
        layers = (self.w_q, self.w_k, self.w_v)
        if any(x is not inputs[0] for x in inputs):
            return torch.cat([layer(x) for layer, x in zip(layers, inputs, strict=True)], -1)
        # One combined product is faster than three.
        bias = None if self.w_q.bias is None else torch.cat([layer.bias for layer in layers])
        return F.linear(inputs[0], torch.cat([layer.weight for layer in layers]), bias)

    def _turned(self, x: Tensor) -> Tensor:
        """Turn every pair (a, b) of x (B, T, H, Dh): (a cos - b sin, b cos + a sin)."""
        length, most = x.shape[1], self.turns.shape[1]
        if length > most:
            raise ValueError(f"a sentence of {length} words, but rotary positions for {most}")
        cos, sin = self.turns[:, :length].unsqueeze(2)  # (T, 1, Dh) each
        a, b = x.view(*x.shape[:-1], -1, 2).unbind(-1)
        swapped = torch.stack([b, a], -1).flatten(-2)  # faster than flip
        return torch.addcmul(x * cos, swapped, sin).to(x.dtype)


def turning_table(rotate: Rotate, base: float, max_len: int, width: int) -> Tensor:
    """Get all cosines and sines from one call of `rotate`: (2, max_len, width), as `turns` must be.

    The pair (1, 0) turned by an angle is its cosine and sine, however `rotate` computes it. The
    sines have the sign that they need for a pair with its halves swapped.
    """
    unit = torch.tensor([1.0, 0.0]).repeat(max_len, width // 2)  # (max_len, width)
    turned = rotate(unit[None, None], base)[0, 0]
    cos, sin = turned[:, 0::2], turned[:, 1::2]
    return torch.stack([torch.stack([cos, cos], -1), torch.stack([-sin, sin], -1)]).flatten(2)


def make_rotary(
    encoder: Any,
    n_heads: int,
    rotate: Rotate,
    base: float,
    *,
    max_len: int = 5000,
    attention_dropout: float = 0.0,
) -> Any:
    """Replace an encoder's positions with rotary ones, in place; it keeps all its parameters.

    Args:
        encoder: a TransformerEncoder.
        n_heads: H.
        rotate: a rotary_embedding.
        base: the larger it is, the more slowly the last columns turn.
        max_len: length of the longest sentence.
        attention_dropout: dropout rate on the attention weights.

    """
    width = encoder.layers[0].self_attention.w_q.out_features // n_heads
    turns = turning_table(rotate, base, max_len, width)
    encoder.positions = nn.Identity()
    for layer in encoder.layers:
        layer.self_attention = FusedRotaryAttention(
            layer.self_attention, n_heads, turns, attention_dropout
        )
    return encoder
