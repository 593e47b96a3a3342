"""Broken pieces, kept so that lessons can show their symptoms. Do not use them for anything else.

Each is the piece that a repair exercise asks you to mend.
"""

from torch import Tensor


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
