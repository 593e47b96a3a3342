"""One broken encoder layer, apart from the others: its exercise is observed with it."""

from typing import Any

from torch import Tensor


def broken_layer(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """Apply one encoder layer with one fault, for lesson 05's `repaired_layer`.

    Args:
        layer: a layer with self_attention, feed_forward, norm_1 and norm_2.
        x: (B, T, D).
        mask: (B, T, T), (B, 1, T) or (1, T, T).

    Returns:
        (B, T, D).

    """
    attended, _ = layer.self_attention(x, x, x, mask)
    x = layer.norm_1(attended)
    output: Tensor = layer.norm_2(x + layer.feed_forward(x))
    return output
