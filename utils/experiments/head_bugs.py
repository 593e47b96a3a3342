"""Three bugs of attention in heads that no shape shows, for lesson 03's last section."""

from collections.abc import Callable

import torch
from torch import Tensor

from utils.experiments.buggy import broken_split_heads

Split = Callable[[Tensor, int], Tensor]
PAIRED, FROM_QUERY, MASK_ORDER = BUGS = (
    "heads paired with the batch",
    "keys from the query",
    "mask repeated in the wrong order",
)
PANELS = {"A": FROM_QUERY, "B": PAIRED, "C": MASK_ORDER}
CHANGED = tuple(f"{part} of {name}" for name in "ab" for part in ("queries", "keys", "mask"))
N_HEADS = 3


def _right_split(x: Tensor, n_heads: int) -> Tensor:
    size, length, _ = x.shape
    return x.view(size, length, n_heads, -1).transpose(1, 2)


def weights_with(bug: str, split: Split, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    """Compute the weights of attention in three heads, without projections.

    Args:
        bug: one of BUGS, or "" for none.
        split: cuts features into heads, (B, T, D), H -> (B, H, T, Dh).
        query: (B, T, D).
        key: (B, S, D).
        mask: (B, T, S), True where a query may look.

    Returns:
        (B, H, T, S).

    """
    q, k = split(query, N_HEADS), split(query if bug == FROM_QUERY else key, N_HEADS)
    scores: Tensor = q @ k.mT / q.shape[-1] ** 0.5
    in_order = mask.repeat_interleave(N_HEADS, 0)  # a, a, a, b, b, b
    copies = mask.repeat(N_HEADS, 1, 1) if bug == MASK_ORDER else in_order
    return scores.masked_fill(~copies.view_as(scores), -torch.inf).softmax(-1)


def moves(bug: str = "", split: Split | None = None) -> Tensor:
    """Change one thing at a time, and see in which heads the weights of sentence a move.

    Args:
        bug: one of BUGS, or "" for none.
        split: cuts features into heads; by default as the bug has it.

    Returns:
        (6, H), a row for each of CHANGED: 1 where the weights move.

    """
    split = split or (broken_split_heads if bug == PAIRED else _right_split)
    draw = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 2, 4, 5 * N_HEADS, generator=draw)
    things = [query, key, torch.ones(2, 4, 4, dtype=torch.bool)]
    before = weights_with(bug, split, *things)[0]
    rows = []
    for sentence in range(2):
        for place in range(len(things)):
            changed = [thing.clone() for thing in things]
            changed[place][sentence] = _other(changed[place][sentence])
            after = weights_with(bug, split, *changed)[0]
            rows.append((after != before).flatten(1).any(1))
    return torch.stack(rows).float()


def _other(thing: Tensor) -> Tensor:
    """Return queries or keys in another order, or a mask that blocks the first two keys."""
    return thing & (torch.arange(4) > 1) if thing.dtype == torch.bool else thing.flip(0)
