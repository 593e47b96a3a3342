"""Ask each layer of a trained encoder what a linear layer can read off its vectors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Batch = tuple[Tensor, Tensor, Tensor]  # ids, mask and tags of some sentences
IGNORED = -100  # the tag of padding


@dataclass(frozen=True)
class Examples:
    """Vectors of words after each stage of an encoder, and their tags.

    Attributes:
        states: of each stage, (N, D): what enters the first layer, then what each layer gives.
        ids: (N,), of the words.
        tags: (N,).

    """

    states: list[Tensor]
    ids: Tensor
    tags: Tensor


@contextmanager
def states_of(layers: Sequence[nn.Module]) -> Iterator[list[Tensor]]:
    """Collect what enters the first layer, then what each layer gives, for every run in `with`."""
    seen: list[Tensor] = []

    def enters(_module: nn.Module, inputs: tuple[Any, ...]) -> None:
        seen.append(inputs[0].detach())

    def leaves(_module: nn.Module, _inputs: Any, result: Tensor) -> None:
        seen.append(result.detach())

    hooks = [layers[0].register_forward_pre_hook(enters)]
    hooks += [layer.register_forward_hook(leaves) for layer in layers]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def examples(
    model: nn.Module, layers: Sequence[nn.Module], batches: Sequence[Batch], device: Any = "cpu"
) -> Examples:
    """Run a model in eval mode over batches, and keep each real word's vectors after each stage."""
    model.eval()
    parts: list[list[Tensor]] = []
    for ids, _, tags in batches:
        real = tags != IGNORED
        with states_of(layers) as seen:
            model(ids.to(device))
        parts.append([state.float().cpu()[real] for state in seen] + [ids[real], tags[real]])
    *states, ids, tags = (torch.cat(kind) for kind in zip(*parts, strict=True))
    return Examples(states, ids, tags)


def probe(known: Examples, asked: Examples, steps: int = 200, rate: float = 0.03) -> list[Tensor]:
    """Train a linear layer for each stage, and tell which tags it reads rightly.

    Args:
        known: words to learn from.
        asked: other words.
        steps: of Adam, on all words at once.
        rate: learning rate.

    Returns:
        For each stage, (N,) of bool: whether the probe is right about each asked word.

    """
    return [
        _one(state, known.tags, other, steps, rate) == asked.tags
        for state, other in zip(known.states, asked.states, strict=True)
    ]


def _one(state: Tensor, tags: Tensor, other: Tensor, steps: int, rate: float) -> Tensor:
    """Train one probe on vectors of unit spread; return its tags for other vectors."""
    mean, spread = state.mean(0), state.std(0).clamp(min=1e-6)
    x = (state - mean) / spread
    reader = nn.Linear(x.shape[1], int(tags.max()) + 1)
    nn.init.zeros_(reader.weight)
    optimizer = torch.optim.Adam(reader.parameters(), rate)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.autograd.backward(F.cross_entropy(reader(x), tags))
        optimizer.step()
    found: Tensor = reader((other - mean) / spread).argmax(1)
    return found
