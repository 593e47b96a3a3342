"""Stand-ins for the masks that lesson 02 builds."""

import torch
from torch import Tensor


def padding_mask(lengths: Tensor, max_len: int) -> Tensor:
    """Mark real positions: lengths (B,) -> (B, 1, max_len), True where s < length."""
    positions = torch.arange(max_len, device=lengths.device)
    return (positions < lengths.unsqueeze(-1)).unsqueeze(1)


def causal_mask(size: int) -> Tensor:
    """Mark what a query may attend to: (1, size, size), True where s <= t."""
    return torch.ones(1, size, size, dtype=torch.bool).tril()
