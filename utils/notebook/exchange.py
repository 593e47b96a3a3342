"""Try whether an encoder uses the parts that are put into it after it was made.

Lesson 07 exchanges parts of a student's encoder. One that keeps second references to its parts (a
list of steps made in `__init__`) is right in its own lesson, and would go on with its old parts.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from utils.words import listed

SIZES = (7, 8, 2, 2, 6, 5)  # V, D, H, N, F, max_len


class _Part(nn.Module):
    """A part that notes that it was called.

    Args:
        right: computes in its place.
        called: where to note it.
        name: what is noted.

    """

    def __init__(self, right: nn.Module, called: list[str], name: str) -> None:
        super().__init__()
        self.right, self.called, self.name = right, called, name

    def forward(self, x: Tensor) -> Tensor:
        """Compute what the right part computes."""
        self.called.append(self.name)
        result: Tensor = self.right(x)
        return result


def fault_of_exchanging(encoder_class: Any) -> str:
    """Return which exchanged parts an encoder does not use, in words; "" if it uses all."""
    called, olds = list[str](), list[str]()
    encoder = encoder_class(*SIZES, 0.0).eval()
    places = list(_places(encoder))
    for holder, attribute, name, right in places:
        getattr(holder, attribute).register_forward_pre_hook(
            lambda *_, name=name: olds.append(name)
        )
        setattr(holder, attribute, _Part(right, called, name))
    try:
        with torch.no_grad():
            encoder(torch.tensor([[1, 2, 3]]))
    except Exception as error:
        return f"stops with {type(error).__name__} after its parts were exchanged"
    left = [name for _, _, name, _ in places if name not in called or name in olds]
    return (
        f"goes on with old parts after new ones took their places: {listed(left)}" if left else ""
    )


def _places(encoder: Any) -> Iterator[tuple[Any, str, str, nn.Module]]:
    """Yield what lesson 07 exchanges: its holder, attribute, name, and a part to put there."""
    vocab, width, *_ = SIZES
    yield encoder, "embedding", "embedding", nn.Embedding(vocab, width)
    yield encoder, "positions", "positions", nn.Identity()
    for n, layer in enumerate(encoder.layers):
        for name in ("norm_1", "norm_2"):
            yield layer, name, f"layers[{n}].{name}", nn.LayerNorm(width)
        yield layer, "feed_forward", f"layers[{n}].feed_forward", nn.Linear(width, width)
