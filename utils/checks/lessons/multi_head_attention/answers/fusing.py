"""Fusing the heads' matrices: right answers and common mistakes."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.multi_head_attention.probes import PROBES

Triple = tuple[Tensor, Tensor, Tensor]
Join = Callable[[Sequence[Tensor]], Tensor]


def fuse_oracle(heads: Sequence[Triple]) -> Triple:
    """Stack the heads' matrices, then join heads and rows."""
    q, k, v = (torch.stack(kind).flatten(0, 1) for kind in zip(*heads, strict=True))
    return q, k, v


def _under_each_other(kind: Sequence[Tensor]) -> Tensor:
    return torch.cat(list(kind))


@by_choices
def _fused(
    *,
    join: Join = _under_each_other,
    turned: bool = False,
    heads_used: Callable[[Sequence[Triple]], Sequence[Triple]] = list,
    order: tuple[int, int, int] = (0, 1, 2),
    finish: Callable[[Triple], Any] = tuple,
) -> Any:
    """Build a fuse_heads with the given choices.

    Args:
        join: the heads' matrices of one kind -> the fused one.
        turned: whether the fused matrices are transposed.
        heads_used: the list of heads -> the one that is fused.
        order: which of queries, keys and values come back first, second and third.
        finish: (w_q, w_k, w_v) -> what comes back.

    """

    def fuse(heads: Sequence[Triple]) -> Any:
        kinds = [join(kind) for kind in zip(*heads_used(heads), strict=True)]
        q, k, v = (kinds[n].mT if turned else kinds[n] for n in order)
        return finish((q, k, v))

    return fuse


def _one_head_of(which: int) -> Callable[[Sequence[Triple]], Sequence[Triple]]:
    """Put one kind of matrix of the first head into the place of every head's."""

    def shared(heads: Sequence[Any]) -> Sequence[Any]:
        first = heads[0][which]
        return [tuple(first if n == which else m for n, m in enumerate(h)) for h in heads]

    return shared


def _by_head(heads: Sequence[Triple]) -> Any:
    return torch.cat([matrix for head in heads for matrix in head]).chunk(3)


def _emptied(heads: list[Triple]) -> Triple:
    found = fuse_oracle(heads)
    heads.clear()
    return found


def _unpacked(heads: Sequence[Any]) -> Any:
    q, k, v = heads
    return torch.cat(q), torch.cat(k), torch.cat(v)


def _zeros_for(place: int) -> Callable[[Sequence[Triple]], Sequence[Triple]]:
    """Put zeros in place of one head."""

    def changed(heads: Sequence[Triple]) -> Sequence[Triple]:
        rest = list(heads)
        q, k, v = rest[place]
        rest[place] = (0 * q, 0 * k, 0 * v)
        return rest

    return changed


def _own_slices(kind: Sequence[Tensor]) -> Tensor:
    """Keep of each head the columns of its own slice, and put them on the diagonal."""
    rows = len(kind[0])
    own = (matrix[:, h * rows :][:, :rows] for h, matrix in enumerate(kind))
    diagonal: Tensor = torch.block_diag(*own)  # type: ignore[no-untyped-call]
    return diagonal


def _written_over(kind: Sequence[Tensor]) -> Tensor:
    """Write the rows of head h from row h on, where row h Dh is meant."""
    rows, width = kind[0].shape
    fused = kind[0].new_zeros(width, width)
    for h, matrix in enumerate(kind):
        fused[h : h + rows] = matrix
    return fused


def _on_the_diagonal(kind: Sequence[Tensor]) -> Tensor:
    diagonal: Tensor = torch.block_diag(*kind)  # type: ignore[no-untyped-call]
    return diagonal


def _average(kind: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(kind)).mean(0)


_ALL_COLUMNS = "A head looks at all D features of a word: its rows keep all of their D columns."
_EVERY_ROW = "Every row of every head must appear in the result."
_TRIPLE = "A triple is (query, key, value), and so is the result."
JOINED = tuple(
    Mistake(name, message, hint, _fused(join=join))
    for name, message, hint, join in (
        (
            "side_by_side",
            "The matrices are joined side by side: (Dh, H D).",
            "nn.Linear keeps one row for each output. Fused, there are D outputs.",
            lambda kind: torch.cat(kind, 1),
        ),
        (
            "stacked_on_a_new_axis",
            "The result has an axis for heads: (H, Dh, D).",
            "`stack` makes a new axis. Which function joins along an existing one?",
            torch.stack,
        ),
        (
            "rows_interleaved",
            "The rows of the heads alternate, so `split_heads` would hand out wrong rows.",
            "`split_heads` gives the first Dh features to head 0: its rows come first, all of "
            "them.",
            lambda kind: torch.stack(kind, 1).flatten(0, 1),
        ),
        (
            "numbers_of_the_heads_alternate",
            "The heads' matrices are stacked along a new last axis and then reshaped, so their "
            "numbers alternate one by one.",
            "The heads' rows go under each other: head 0 first. How is a new last axis read?",
            lambda kind: torch.stack(kind, -1).reshape(-1, kind[0].shape[-1]),
        ),
        (
            "own_slices_on_the_diagonal",
            "Each head keeps the columns of its own slice only: a head sees a part of each word.",
            _ALL_COLUMNS,
            _own_slices,
        ),
        (
            "on_the_diagonal",
            "The heads' matrices are put along a diagonal, with zeros beside them: (D, H D).",
            _ALL_COLUMNS,
            _on_the_diagonal,
        ),
        (
            "heads_written_over_one_another",
            "Head h is written from row h on: the next head overwrites most of it, and the last "
            "rows are never written.",
            "A head has Dh rows. How many rows do the heads before it take?",
            _written_over,
        ),
        ("averaged", "The heads' matrices are averaged: (Dh, D).", _EVERY_ROW, _average),
        (
            "average_repeated",
            "The heads' matrices are averaged, and the average is repeated to fill up D rows.",
            _EVERY_ROW,
            lambda kind: _average(kind).repeat(len(kind), 1),
        ),
        (
            "added_up",
            "The heads' matrices are added up: (Dh, D).",
            _EVERY_ROW,
            lambda kind: torch.stack(list(kind)).sum(0),
        ),
    )
)
FUSE_MISTAKES = (
    *JOINED,
    Mistake(
        "kinds_joined_within_a_head",
        "The three matrices of each head are joined: one matrix for a head.",
        "Join the heads' matrices of one kind: all w_q, all w_k, all w_v. zip(*heads) sorts them "
        "that way.",
        lambda heads: tuple(torch.cat(list(head)) for head in heads),
    ),
    Mistake(
        "transposed",
        "The matrices are transposed.",
        "A matrix of nn.Linear has one row for each output; rows of heads go under each other.",
        _fused(turned=True),
    ),
    Mistake(
        "kinds_mixed",
        "Queries, keys and values are mixed: the triples were laid end to end.",
        "w_q is made from the first entry of every triple, w_k of the second, w_v of the third.",
        _by_head,
    ),
    Mistake(
        "heads_taken_for_kinds",
        "The list is unpacked as if it held queries, keys and values, but it holds a triple for "
        "each head.",
        "heads[0] is the triple of head 0. w_q is made from the first entry of every triple.",
        _unpacked,
    ),
    Mistake(
        "heads_in_reverse",
        "The last head comes first.",
        "Keep the order of the list.",
        _fused(heads_used=lambda heads: heads[::-1]),
    ),
    *(
        Mistake(
            name,
            f"{which} head is missing: there are zeros in its place.",
            _EVERY_ROW,
            _fused(heads_used=_zeros_for(place)),
        )
        for name, which, place in (
            ("first_head_missing", "The first", 0),
            ("last_head_missing", "The last", -1),
        )
    ),
    *(
        Mistake(
            f"first_heads_{name}_for_all",
            f"Every head gets the {name} matrix of the first head.",
            _EVERY_ROW,
            _fused(heads_used=_one_head_of(which)),
        )
        for which, name in enumerate(("query", "key", "value"))
    ),
    Mistake(
        "first_head_only",
        "The result holds one head only.",
        _EVERY_ROW,
        _fused(heads_used=lambda heads: heads[:1]),
    ),
    *(
        Mistake(name, message, _TRIPLE, _fused(order=order))
        for name, message, order in (
            ("keys_and_values_swapped", "w_k and w_v are swapped.", (0, 2, 1)),
            ("queries_and_keys_swapped", "w_q and w_k are swapped.", (1, 0, 2)),
            ("queries_and_values_swapped", "w_q and w_v are swapped.", (2, 1, 0)),
            ("queries_for_keys", "w_k holds the numbers of the queries.", (0, 0, 2)),
            ("keys_for_values", "w_v holds the numbers of the keys.", (0, 1, 1)),
        )
    ),
    *(
        Mistake(
            f"{name}_three_times",
            f"All three results hold the numbers of {name}.",
            "Is one tensor written three times, or is an index always the same? `[x] * 3` holds "
            "one x under three names.",
            _fused(order=(place,) * 3),
        )
        for place, name in enumerate(("w_q", "w_k", "w_v"))
    ),
    Mistake(
        "list_emptied",
        "The caller's list is empty afterwards, or in another order.",
        "`pop` and `reverse` change the caller's list. Read it instead: `heads[0]`, `for head in "
        "heads`, `heads[::-1]`.",
        _emptied,
    ),
    Mistake(
        "one_matrix",
        "Everything is put into a single matrix of 3 D rows.",
        "Return three: one for queries, one for keys, one for values.",
        _fused(finish=torch.cat),
    ),
)
EXERCISES = by_id(Exercise(PROBES["fuse_heads"], fuse_oracle, FUSE_MISTAKES))
