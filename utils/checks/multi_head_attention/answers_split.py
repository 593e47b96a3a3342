"""Cutting into heads, joining them, repairing and fusing: what is right and commonly wrong."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, Mistake
from utils.checks.multi_head_attention.probes import PROBES
from utils.checks.multi_head_attention.reference import reference_merge, reference_split
from utils.checks.multi_head_attention.variants import (
    interleaved_merge,
    interleaved_split,
    view_merge,
    view_split,
)

_PROBES = {probe.exercise: probe for probe in PROBES}
Triple = tuple[Tensor, Tensor, Tensor]


def _cut(x: Tensor, n_heads: int) -> Tensor:
    """(B, T, D) -> (B, T, H, Dh): right as far as it goes."""
    return x.reshape(*x.shape[:-1], n_heads, -1)


SPLIT_MISTAKES = (
    Mistake(
        "view_without_transpose",
        "The shape is right and the numbers are in the wrong places: a head gets all the features "
        "of a few tokens, not a few features of all tokens.",
        "`view` and `reshape` never move a number: they only read the same row of numbers with "
        "other line breaks. Which two axes have to change places?",
        view_split,
    ),
    Mistake(
        "heads_not_moved",
        "The heads are the third axis: (B, T, H, Dh).",
        "One step is left: H has to stand before T, so that each head has its own table.",
        _cut,
    ),
    Mistake(
        "every_other_feature",
        "Head h got every H-th feature; it should get Dh features that lie side by side.",
        "Cutting D into (H, Dh) and into (Dh, H) is not the same. Which comes first?",
        interleaved_split,
    ),
    Mistake(
        "count_taken_for_size",
        "n_heads was taken for the size of a head.",
        "There are n_heads heads, of D / n_heads features each.",
        lambda x, n: _cut(x, x.shape[-1] // n).transpose(1, 2),
    ),
    *(
        Mistake(
            f"size_of_a_head_is_no_integer_to_{name}",
            "The size of a head is a float, and a shape takes whole numbers only.",
            "In Python 6 / 2 is 3.0. Which division gives 3?",
            cut,
        )
        for name, cut in (
            ("view", lambda x, n: x.view(*x.shape[:2], n, x.shape[2] / n).transpose(1, 2)),
            ("reshape", lambda x, n: x.reshape(*x.shape[:2], n, x.shape[2] / n).transpose(1, 2)),
        )
    ),
    Mistake(
        "features_before_positions",
        "The last two axes have changed places: (B, H, Dh, T).",
        "Each head is a small sequence: positions first, then its features.",
        lambda x, n: reference_split(x, n).transpose(2, 3),
    ),
    Mistake(
        "transposed_then_viewed",
        "Positions and features were swapped before cutting.",
        "Cut the last axis first, while the features of a token still lie side by side.",
        lambda x, n: x.transpose(1, 2).reshape(len(x), n, x.shape[1], -1),
    ),
    Mistake(
        "heads_in_front_of_the_batch",
        "The heads are the first axis: (H, B, T, Dh).",
        "The batch stays in front.",
        lambda x, n: reference_split(x, n).transpose(0, 1),
    ),
    Mistake(
        "batch_and_heads_in_one_axis",
        "Batch and heads are one axis: (B H, T, Dh).",
        "Keep four axes. A mask with a batch axis will be glad of it.",
        lambda x, n: reference_split(x, n).flatten(0, 1),
    ),
    Mistake(
        "list_of_heads",
        "The heads come as a list of tensors.",
        "Put them into one tensor with an axis for heads: one product then serves all.",
        lambda x, n: list(x.chunk(n, -1)),
    ),
)


def _join_viewed(x: Tensor) -> Tensor:
    return x.transpose(1, 2).view(len(x), x.shape[2], -1)


MERGE_MISTAKES = (
    Mistake(
        "view_without_transpose",
        "The shape is right and the numbers are in the wrong places: a row of the result holds "
        "several tokens of one head, not all heads of one token.",
        "Undo the split step by step, the last step first.",
        view_merge,
    ),
    Mistake(
        "view_after_transpose",
        "`view` cannot join two axes that do not lie side by side in memory.",
        "`transpose` leaves the numbers where they are and only notes the new order. `reshape` "
        "copies where it must; `contiguous()` copies by your wish.",
        _join_viewed,
    ),
    Mistake(
        "heads_interleaved",
        "Feature 0 of all heads comes first, then feature 1: heads should lie side by side.",
        "Just before the axes are joined they must stand in the order (B, T, H, Dh).",
        interleaved_merge,
    ),
    Mistake(
        "not_joined",
        "H and Dh are still two axes: (B, T, H, Dh).",
        "One step is left: D = H Dh.",
        lambda x: x.transpose(1, 2),
    ),
    Mistake(
        "positions_joined",
        "Heads and positions became one axis: (B, H T, Dh).",
        "The heads of one token are joined; the tokens stay apart.",
        lambda x: x.flatten(1, 2),
    ),
    Mistake(
        "heads_averaged",
        "The heads are averaged.",
        "Nothing may get lost: the features of all heads stand side by side.",
        lambda x: x.mean(1),
    ),
    Mistake(
        "heads_summed",
        "The heads are added up.",
        "Nothing may get lost: the features of all heads stand side by side.",
        lambda x: x.sum(1),
    ),
    Mistake(
        "heads_in_reverse",
        "The last head comes first.",
        "Head 0 has the first Dh features, as `split_heads` cut them.",
        lambda x: reference_merge(x.flip(1)),
    ),
)

REPAIR_MISTAKES = (
    Mistake(
        "still_by_view_alone",
        "It is not repaired yet: a head still gets all the features of a few tokens.",
        "Look at the picture: a row should be fed by one token, its own. In which order do "
        "positions and heads lie in memory?",
        view_split,
    ),
    *(m for m in SPLIT_MISTAKES[1:] if m.name != "list_of_heads"),
)


def fuse_oracle(heads: Sequence[Triple]) -> Triple:
    """Stack the heads' matrices, then join heads and rows."""
    q, k, v = (torch.stack(kind).flatten(0, 1) for kind in zip(*heads, strict=True))
    return q, k, v


def _fused(change: Callable[[list[Tensor]], Tensor]) -> Any:
    """A fuse_heads that makes each of the three matrices by `change`."""
    return lambda heads: tuple(change(list(kind)) for kind in zip(*heads, strict=True))


def _by_head(heads: Sequence[Triple]) -> Any:
    return torch.cat([matrix for head in heads for matrix in head]).chunk(3)


FUSE_MISTAKES = (
    Mistake(
        "side_by_side",
        "The matrices stand side by side: (Dh, H D).",
        "nn.Linear keeps one row for each output. Fused, there are D outputs.",
        _fused(lambda kind: torch.cat(kind, 1)),
    ),
    Mistake(
        "stacked_on_a_new_axis",
        "The result has an axis for heads: (H, Dh, D).",
        "`stack` makes a new axis; another function joins along one that is there.",
        _fused(torch.stack),
    ),
    Mistake(
        "rows_interleaved",
        "The rows of the heads alternate, so `split_heads` would hand out wrong rows.",
        "`split_heads` gives the first Dh features to head 0: its rows come first, all of them.",
        _fused(lambda kind: torch.stack(kind, 1).flatten(0, 1)),
    ),
    Mistake(
        "transposed",
        "The matrices are transposed.",
        "A matrix of nn.Linear has one row for each output; rows of heads go under each other.",
        _fused(lambda kind: torch.cat(kind).T),
    ),
    Mistake(
        "kinds_mixed",
        "Queries, keys and values are mixed: the triples were laid end to end.",
        "w_q is made of the first entry of every triple, w_k of the second, w_v of the third.",
        _by_head,
    ),
    Mistake(
        "heads_in_reverse",
        "The last head comes first.",
        "Keep the order of the list.",
        _fused(lambda kind: torch.cat(kind[::-1])),
    ),
    Mistake(
        "keys_and_values_swapped",
        "w_k and w_v have changed places.",
        "A triple is (query, key, value).",
        lambda heads: tuple(fuse_oracle(heads)[n] for n in (0, 2, 1)),
    ),
    Mistake(
        "averaged",
        "The heads' matrices are averaged: (Dh, D).",
        "Every row of every head must be found in the result.",
        _fused(lambda kind: torch.stack(kind).mean(0)),
    ),
)

SPLIT = (
    Exercise(_PROBES["split_heads"], reference_split, SPLIT_MISTAKES),
    Exercise(_PROBES["merge_heads"], reference_merge, MERGE_MISTAKES),
)
FUSE = Exercise(_PROBES["fuse_heads"], fuse_oracle, FUSE_MISTAKES)
REPAIR = Exercise(_PROBES["repaired_split_heads"], reference_split, REPAIR_MISTAKES)
