"""Split vectors into heads and merge them again, for stand-ins, oracles and variants."""

import torch
from torch import Tensor


def reference_split(x: Tensor, n_heads: int) -> Tensor:
    """Split (B, T, D) into heads (B, H, T, Dh), one slice of features after another."""
    return torch.stack(x.chunk(n_heads, -1), 1)


def reference_merge(x: Tensor) -> Tensor:
    """Merge heads (B, H, T, Dh) into (B, T, D), side by side."""
    return torch.cat(x.unbind(1), -1)
