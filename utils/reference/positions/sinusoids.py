"""The stand-in for the sinusoids of lesson 04."""

import torch
from torch import Tensor


def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    """Return encodings (max_len, d_model): sine in even columns, cosine in odd ones.

    Raises:
        ValueError: d_model is odd.

    """
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd; sine and cosine come in pairs")
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.outer(torch.arange(max_len, dtype=torch.float64), rates)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).to(torch.get_default_dtype())
