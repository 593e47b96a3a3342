"""Try whether an encoder uses the parts that are put into it after it was made.

Lesson 07 exchanges parts of a student's encoder. One that keeps second references to its parts (a
list of steps made in `__init__`) is right in its own lesson, and would go on with its old parts.
"""

from typing import Any

import torch
from torch import Tensor, nn

from utils.words import listed

SIZES = (7, 8, 2, 2, 6, 5)  # V, D, H, N, F, max_len
IN_A_LAYER = ("feed_forward", "norm_1", "norm_2")


class _Part(nn.Module):
    """A part that notes whether it was called.

    Args:
        right: computes in its place.

    """

    def __init__(self, right: nn.Module) -> None:
        super().__init__()
        self.right, self.called = right, False

    def forward(self, x: Tensor) -> Tensor:
        """Compute what the right part computes."""
        self.called = True
        result: Tensor = self.right(x)
        return result


def fault_of_exchanging(encoder_class: Any) -> str:
    """Return which exchanged parts an encoder does not use, in words; "" if it uses all."""
    vocab, width, *_ = SIZES
    encoder = encoder_class(*SIZES, 0.0).eval()
    parts = {"embedding": _Part(nn.Embedding(vocab, width)), "positions": _Part(nn.Identity())}
    encoder.embedding, encoder.positions = parts.values()
    for n, layer in enumerate(encoder.layers):
        for name in IN_A_LAYER:
            right = nn.LayerNorm(width) if "norm" in name else nn.Linear(width, width)
            parts[f"layers[{n}].{name}"] = _Part(right)
            setattr(layer, name, parts[f"layers[{n}].{name}"])
    try:
        with torch.no_grad():
            encoder(torch.tensor([[1, 2, 3]]))
    except Exception as error:
        return f"stops with {type(error).__name__} after its parts were exchanged"
    unused = [name for name, part in parts.items() if not part.called]
    return f"goes on with its old parts after these are exchanged: {listed(unused)}" * bool(unused)
