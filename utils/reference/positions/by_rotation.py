"""Encodings by complex numbers and matrix exponentials: the oracles, and the stand-in.

A pair of columns is one complex number of length 1, and a position rotates it. Everything is
computed in float64, which no exercise asks for, so that the last digit here is the right one.
"""

from collections.abc import Callable

import torch
from torch import Tensor

BASE = 10000.0
Rates = Callable[[int], Tensor]


def rates(width: int, base: float = BASE) -> Tensor:
    """Return the angle per position of each pair of columns: (width / 2,), from 1 down, float64."""
    return torch.logspace(0, -1, width // 2 + 1, base=base, dtype=torch.float64)[:-1]


def turns(positions: Tensor, angle_per_position: Tensor) -> Tensor:
    """Return unit complex numbers: positions (T,) and rates (P,) -> (T, P), complex128."""
    angles = torch.outer(positions.double(), angle_per_position)
    return torch.polar(torch.ones_like(angles), angles)


def reference_encoding(max_len: int, d_model: int) -> Tensor:
    """Return sinusoids (max_len, d_model), sin in even and cos in odd columns.

    Raises:
        ValueError: d_model is odd.

    """
    if d_model % 2:
        raise ValueError(f"d_model must be even, not {d_model}")
    circles = turns(torch.arange(max_len), rates(d_model))
    return torch.view_as_real(circles).flip(-1).flatten(1).float()


def reference_shift(offset: int, d_model: int) -> Tensor:
    """Return the matrix (d_model, d_model) that moves every encoding by `offset` positions."""
    generator = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    blocks = [torch.linalg.matrix_exp(offset * rate * generator) for rate in rates(d_model)]
    matrix: Tensor = torch.block_diag(*blocks).float()  # type: ignore[no-untyped-call]
    return matrix


def reference_rotary(x: Tensor, base: float = BASE, offset: int = 0) -> Tensor:
    """Rotate pair i of the last axis by position * base^(-2i/Dh): (B, H, T, Dh) -> like x.

    The first position is `offset`.
    """
    pairs = torch.complex(x[..., ::2].double(), x[..., 1::2].double())
    turned = pairs * turns(offset + torch.arange(x.shape[-2]), rates(x.shape[-1], base))
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)
