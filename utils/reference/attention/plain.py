"""Attention in plain operations: the stand-in where torch's own kernels are absent."""

import torch
from torch import Tensor


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend from q (..., T, Dk) to k (..., S, Dk) and v (..., S, Dv); empty rows give zero.

    Returns:
        output (..., T, Dv) and weights (..., T, S).

    """
    scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(-1)
        return weights @ v, weights
    empty = ~mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~(mask | empty), -torch.inf).softmax(-1).masked_fill(empty, 0.0)
    return weights @ v, weights
