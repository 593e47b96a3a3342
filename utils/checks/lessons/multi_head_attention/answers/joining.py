"""Joining heads: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.multi_head_attention.probes import PROBES
from utils.checks.lessons.multi_head_attention.variants import (
    interleaved_merge,
    repeated_merge,
    summed_merge,
    view_merge,
)
from utils.reference.heads import reference_merge

Change = Callable[[Tensor], Any]


def _squeezed(x: Tensor) -> Tensor:
    return torch.cat([head.squeeze() for head in x.unbind(1)], -1)


def _as_many_as_features(x: Tensor) -> Tensor:
    """Count the heads up to Dh, as a loop does that writes them into zeros."""
    _, heads, _, size = x.shape
    if size > heads:
        return x[:, heads]  # torch's own words for an index beyond the end
    rest = [0 * x[:, :1]] * (heads - size)
    return reference_merge(torch.cat([x[:, :size], *rest], 1))


def _sentences_read_anew(x: Tensor) -> Tensor:
    joined = torch.cat(x.unbind(0), -1).transpose(0, 1)
    return joined.reshape(x.shape[0], x.shape[2], -1)


@by_choices
def _merge(
    *,
    join: Change = reference_merge,
    reverse: bool = False,
    only: slice = slice(None),
    finish: Change = lambda merged: merged,
) -> Any:
    """Build a merge_heads with the given choices.

    Args:
        join: heads (B, H, T, Dh) -> (B, T, D).
        reverse: whether the last head comes first.
        only: the sentences that are kept.
        finish: what becomes of the axes in the end.

    """
    return lambda x: finish(join((x.flip(1) if reverse else x)[only]))


_LOST = "Nothing may get lost: the features of all heads go side by side."
MERGE_MISTAKES = (
    Mistake(
        "view_without_transpose",
        "The shape is right, but the numbers are in the wrong places: a row of the result holds "
        "several tokens of one head, not all heads of one token.",
        "Undo the split step by step, the last step first.",
        _merge(join=view_merge),
    ),
    Mistake(
        "view_after_transpose",
        "`view` cannot join two axes that do not lie side by side in memory.",
        "`transpose` leaves the numbers where they are and only notes the new order. `reshape` "
        "copies where it must; `contiguous()` copies when you ask for it.",
        _merge(join=lambda x: x.transpose(1, 2).view(len(x), x.shape[2], -1)),
    ),
    Mistake(
        "heads_interleaved",
        "Feature 0 of all heads comes first, then feature 1: heads should lie side by side.",
        "Just before the axes are joined they must be in the order (B, T, H, Dh).",
        _merge(join=interleaved_merge),
    ),
    Mistake(
        "other_axes_exchanged",
        "T and Dh are swapped before joining; H and T should be.",
        "Just before the axes are joined they must be in the order (B, T, H, Dh).",
        _merge(join=lambda x: x.transpose(2, 3).reshape(len(x), x.shape[2], -1)),
    ),
    Mistake(
        "features_before_heads",
        "Just before the axes are joined they are in the order (B, Dh, H, T).",
        "Just before the axes are joined they must be in the order (B, T, H, Dh).",
        _merge(join=lambda x: x.permute(0, 3, 1, 2).reshape(len(x), x.shape[2], -1)),
    ),
    Mistake(
        "not_joined",
        "H and Dh are still two axes: (B, T, H, Dh).",
        "One step is left: D = H Dh.",
        _merge(join=lambda x: x.transpose(1, 2)),
    ),
    Mistake(
        "positions_joined",
        "Heads and positions became one axis: (B, H T, Dh).",
        "The heads of one token are joined; the tokens stay apart.",
        _merge(join=lambda x: x.flatten(1, 2)),
    ),
    Mistake(
        "joined_to_the_positions",
        "Positions and heads became one axis: (B, T H, Dh).",
        "The heads of one token are joined; the tokens stay apart.",
        _merge(join=lambda x: x.transpose(1, 2).flatten(1, 2)),
    ),
    Mistake(
        "squeezed",
        "Every axis of size one is lost, even that of a single sentence, token or feature.",
        "`squeeze` without an axis removes all of them. Tell it which one you mean, or pick a "
        "head with an index.",
        _merge(join=_squeezed),
    ),
    *(
        Mistake(
            name,
            "The result has the width of one head, (B H, T, Dh): heads ended up in the batch's "
            "axis.",
            "D is H Dh. Which sizes does the last axis of x hold, and which should the result's?",
            _merge(join=join),
        )
        for name, join in (
            ("heads_joined_to_the_batch", lambda x: x.flatten(0, 1)),
            ("width_of_one_head", lambda x: x.transpose(1, 2).reshape(-1, *x.shape[2:])),
        )
    ),
    *(
        Mistake(
            name,
            "Dh is used as the number of heads.",
            "The axes of x are (B, H, T, Dh), in this order. How many heads are joined?",
            _merge(join=join),
        )
        for name, join in (
            ("size_taken_for_count", _as_many_as_features),
            (
                "size_taken_for_count_in_a_list",
                lambda x: torch.cat([x[:, h] for h in range(x.shape[-1])], -1),
            ),
        )
    ),
    *(
        Mistake(
            name,
            "Sentences are joined instead of heads: the batch is taken apart.",
            "The axes of x are (B, H, T, Dh): x[0] is a sentence. Which axis holds the heads?",
            _merge(join=join),
        )
        for name, join in (
            ("sentences_joined_along_axis_1", lambda x: torch.cat(x.unbind(0), 1)),
            ("sentences_joined_along_axis_2", lambda x: torch.cat(x.unbind(0), 2)),
            ("sentences_joined_and_read_anew", _sentences_read_anew),
        )
    ),
    Mistake(
        "batch_taken_for_positions",
        "Batch and positions are swapped: (T, B, D).",
        "x is (B, H, T, Dh), batch first, and the batch stays in front.",
        _merge(finish=lambda merged: merged.transpose(0, 1)),
    ),
    *(
        Mistake(
            name,
            message,
            "The axes of x are (B, H, T, Dh), in this order. A row of the result is one token.",
            _merge(join=join),
        )
        for name, message, join in (
            (
                "heads_taken_for_positions",
                "Each head's tokens are joined into one row: (B, H, T Dh).",
                lambda x: x.flatten(2),
            ),
            (
                "positions_taken_for_heads",
                "x is read as (B, T, H, Dh): the size of one axis is used for the other.",
                lambda x: x.transpose(1, 2).reshape(len(x), x.shape[1], -1),
            ),
        )
    ),
    *(
        Mistake(name, message, _LOST, _merge(join=join))
        for name, message, join in (
            ("heads_averaged", "The heads are averaged.", lambda x: x.mean(1)),
            ("heads_summed", "The heads are added up.", lambda x: x.sum(1)),
            ("average_repeated", "The heads are averaged, and the average repeated.",
             repeated_merge),
            ("sum_repeated", "The heads are added up, and the sum repeated.", summed_merge),
            ("last_head_lost", "The last head is missing: there are zeros in its place.",
             lambda x: reference_merge(torch.cat([x[:, :-1], 0 * x[:, -1:]], 1))),
            ("first_head_lost", "The first head is missing: there are zeros in its place.",
             lambda x: reference_merge(torch.cat([0 * x[:, :1], x[:, 1:]], 1))),
        )
    ),
    Mistake(
        "heads_in_reverse",
        "The last head comes first.",
        "Head 0 has the first Dh features, as `split_heads` cut them.",
        _merge(reverse=True),
    ),
    Mistake(
        "first_sentence_only",
        "Only the first sentence of the batch is kept.",
        "An index picks one sentence and loses the others: keep the batch's axis.",
        _merge(only=slice(1)),
    ),
    Mistake(
        "features_before_positions",
        "The last two axes of the result are swapped: (B, D, T).",
        "A token is a row: positions first, then features.",
        _merge(finish=lambda merged: merged.transpose(1, 2)),
    ),
    Mistake(
        "sentences_joined",
        "Sentences and positions became one axis: (B T, D).",
        "The batch keeps its axis.",
        _merge(finish=lambda merged: merged.flatten(0, 1)),
    ),
)  # fmt: skip

EXERCISES = by_id(Exercise(PROBES["merge_heads"], reference_merge, MERGE_MISTAKES))
