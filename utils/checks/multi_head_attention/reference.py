"""Cutting vectors into heads and joining them again, for stand-ins, oracles and variants."""

import torch
from torch import Tensor


def reference_split(x: Tensor, n_heads: int) -> Tensor:
    """Cut (B, T, D) into heads (B, H, T, Dh), one slice of features after another."""
    return torch.stack(x.chunk(n_heads, -1), 1)


def reference_merge(x: Tensor) -> Tensor:
    """Join heads (B, H, T, Dh) to (B, T, D), one beside the other."""
    return torch.cat(x.unbind(1), -1)
