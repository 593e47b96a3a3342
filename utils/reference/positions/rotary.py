"""The stand-in for lesson 04's rotary positions."""

import torch
from torch import Tensor


def rotary_embedding(x: Tensor, base: float = 10000.0, offset: int = 0) -> Tensor:
    """Rotate each pair of columns of x (B, H, T, Dh) by its position's angle, from offset on."""
    places = torch.arange(offset, offset + x.shape[-2], dtype=torch.float64)
    turns = _turns(places, x.shape[-1], base).to(x.device)
    pairs = torch.complex(x[..., ::2].double(), x[..., 1::2].double())
    return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)


def _turns(places: Tensor, width: int, base: float) -> Tensor:
    """Return unit complex numbers (T, width / 2), at the angles p * base^(-2i / width)."""
    rates = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.outer(places, rates)
    return torch.polar(torch.ones_like(angles), angles)
