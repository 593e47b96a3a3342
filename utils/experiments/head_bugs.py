"""What attention in heads lets depend on what, right or with a broken split, for lesson 03."""

from collections.abc import Callable

import torch
from torch import Tensor

Split = Callable[[Tensor, int], Tensor]
CHANGED = tuple(f"{part} of {name}" for name in "ab" for part in ("queries", "keys", "mask"))
N_HEADS = 3


def right_split(x: Tensor, n_heads: int) -> Tensor:
    """Cut features into heads, (B, T, D) -> (B, H, T, Dh)."""
    size, length, _ = x.shape
    return x.view(size, length, n_heads, -1).transpose(1, 2)


def moves(split: Split = right_split) -> Tensor:
    """Change one thing at a time, and see in which heads the weights of sentence a move.

    Args:
        split: cuts features into heads, (B, T, D), H -> (B, H, T, Dh).

    Returns:
        (6, H), a row for each of CHANGED: 1 where the weights move.

    """
    draw = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 2, 4, 5 * N_HEADS, generator=draw)
    things = [query, key, torch.ones(2, 4, 4, dtype=torch.bool)]
    before = _weights(split, *things)[0]
    rows = []
    for sentence in range(2):
        for place in range(len(things)):
            changed = [thing.clone() for thing in things]
            changed[place][sentence] = _other(changed[place][sentence])
            rows.append((_weights(split, *changed)[0] != before).flatten(1).any(1))
    return torch.stack(rows).float()


def _weights(split: Split, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    """Compute the weights (B, H, T, S) of attention in three heads, without projections."""
    q, k = split(query, N_HEADS), split(key, N_HEADS)
    scores: Tensor = q @ k.mT / q.shape[-1] ** 0.5
    return scores.masked_fill(~mask.unsqueeze(1), -torch.inf).softmax(-1)


def _other(thing: Tensor) -> Tensor:
    """Return queries or keys in another order, or a mask that blocks the first two keys."""
    return thing & (torch.arange(4) > 1) if thing.dtype == torch.bool else thing.flip(0)
