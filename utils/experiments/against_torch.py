"""An attention and torch's own, on the same padded sentences."""

from typing import Any

import torch
from torch import Tensor, nn


def against_torch(
    ours: nn.Module, theirs: nn.MultiheadAttention, batch: int, length: int
) -> dict[str, float]:
    """Return the largest differences of outputs, weights and gradients.

    Args:
        ours: called as (x, x, x, mask=...) -> (output, weights (B, H, T, S)), True may be seen.
        theirs: with the same weights, batch first; its mask is upside down.
        batch: B.
        length: of the longest sentence.

    """
    x = torch.randn(batch, length, theirs.embed_dim)
    real = torch.arange(length) < torch.randint(1, length + 1, (batch, 1))  # (B, S)
    found = _run(ours, x, mask=real.unsqueeze(1))
    wanted = _run(theirs, x, key_padding_mask=~real, average_attn_weights=False)
    names = ("output", "weights", "gradients")
    gaps = [float((a - b).abs().max()) for a, b in zip(found, wanted, strict=True)]
    return dict(zip(names, gaps, strict=True))


def _run(attention: nn.Module, x: Tensor, **how: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return output, weights, and the gradient at the input of the sum of all outputs."""
    own = x.clone().requires_grad_()
    output, weights = attention(own, own, own, **how)
    (gradient,) = torch.autograd.grad(output.sum(), own)
    return output.detach(), weights.detach(), gradient
