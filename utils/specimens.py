"""Broken pieces, kept so that lessons can show their symptoms. Do not use them for anything else.

Each is the piece that a repair exercise asks you to mend.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


def broken_attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Attention with one fault, for lesson 02's `repaired_attention`.

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


def broken_split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut features into heads with one fault, for lesson 03's `repaired_split_heads`.

    Args:
        x: (B, T, D).
        n_heads: H.

    Returns:
        Heads (B, H, T, Dh); right in shape only.

    """
    size, length, d_model = x.shape
    return x.view(size, n_heads, length, d_model // n_heads)


def broken_encoding(max_len: int, d_model: int) -> Tensor:
    """Sinusoids with one fault, for lesson 04's `repaired_encoding`.

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


def broken_layer(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """One encoder layer with one fault, for lesson 05's `repaired_layer`.

    Args:
        layer: its self_attention, feed_forward, norm_1 and norm_2 are used.
        x: (B, T, D).
        mask: (B, T, T), (B, 1, T) or (1, T, T).

    Returns:
        (B, T, D).

    """
    attended, _ = layer.self_attention(x, x, x, mask)
    x = layer.norm_1(attended)
    output: Tensor = layer.norm_2(x + layer.feed_forward(x))
    return output


def broken_stack(make_layer: Callable[[], nn.Module], n_layers: int) -> nn.ModuleList:
    """Build a stack with one fault, for lesson 05's `repaired_stack`.

    Args:
        make_layer: makes a new layer.
        n_layers: how many.

    """
    return nn.ModuleList([make_layer()] * n_layers)
