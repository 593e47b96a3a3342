"""The table of dot products: right answers and common mistakes."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.start_here.probes import PROBES

Change = Callable[[Tensor], Tensor]
Match = Callable[[Tensor, Tensor], Tensor]
# Bound at import: torch lacks this name while an answer is observed.
_softmax = torch.softmax


def dot_oracle(a: Tensor, b: Tensor) -> Tensor:
    """Apply torch's bilinear form with the identity to every pair of vectors."""
    sizes = (len(a), a.shape[1], b.shape[1], a.shape[2])
    left, right = a[:, :, None].expand(sizes), b[:, None].expand(sizes)
    identity = torch.eye(a.shape[-1], dtype=a.dtype)[None]
    return F.bilinear(left.contiguous(), right.contiguous(), identity).squeeze(-1)


@by_choices
def _dots(
    *,
    batch: Change = lambda b: b,
    length: Callable[[Tensor, int], Tensor] | None = None,
    right: Change = lambda b: b,
    match: Match = dot_oracle,
    scale: Callable[[int], float] = lambda depth: 1.0,
    turned: bool = False,
    after: Change = lambda products: products,
    page: Change = lambda products: products,
) -> Callable[[Tensor, Tensor], Tensor]:
    """Build a table of products with some things done differently.

    Args:
        batch: what is done to the batch axis of both sides first.
        length: (vectors, their axis) -> vectors, for both sides.
        right: what is done to b alone.
        match: (a, b) -> table.
        scale: D -> factor on the products.
        turned: whether rows and columns are exchanged.
        after: what is done to the table then.
        page: what is done to the table's batch axis at the end.

    """

    def table(a: Tensor, b: Tensor) -> Tensor:
        a, b = batch(a), right(batch(b))
        if length is not None:
            a, b = length(a, -1), length(b, -1)
        products = match(a, b) * scale(a.shape[-1])
        return page(after(products.mT if turned else products))

    return table


def _unit(vectors: Tensor, axis: int) -> Tensor:
    lengths: Tensor = vectors.norm(dim=axis, keepdim=True)
    return vectors / lengths


def _reshaped(b: Tensor) -> Tensor:
    return b.reshape(len(b), b.shape[2], b.shape[1]).mT  # dot_oracle turns it round again


def _whole_batch(b: Tensor) -> Tensor:
    return b.sum(0, keepdim=True).expand_as(b)


def _first_sequence(b: Tensor) -> Tensor:
    return b[:1].expand_as(b)


def _equal_places(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def _one_sequence_at_a_time(a: Tensor, b: Tensor) -> Tensor:
    return torch.cat(
        [dot_oracle(one, other) for one, other in zip(a[:, None], b[:, None], strict=True)]
    )


_SAME_PLACES = (
    "Only vectors at the same position are multiplied; the table needs every pair.",
    "P[t, s] has two positions. What shape must `a` and `b` have, so that each of a's vectors "
    "meets each of b's?",
)
_OVER_POSITIONS = (
    "The products are summed over positions, not over D.",
    "Which axis do the two vectors of a pair share? It is the one that goes away.",
)
_ALL_AXES = (
    "All axes of b are reversed, the batch axis too.",
    "With three axes, `.T` reverses all of them. Only the last two may be swapped.",
)
_BATCH_SWAPPED = (
    "The batch axis of b is swapped with its sequence axis.",
    "Only the last two axes may be swapped: the batch stays in front.",
)
_NO_TRANSPOSE = (
    "The matrices do not fit: both have D last.",
    "A matrix product sums over the last axis of the left and the last but one of the "
    "right. Swap the last two axes of `b` (not all axes: .T reverses the batch too).",
)

EXERCISES = by_id(
    Exercise(
        PROBES["pairwise_dot"],
        dot_oracle,
        (
            Mistake(
                "not_summed",
                "The entries of each pair are multiplied but not added up, so the result is (B, "
                "T, S, D).",
                "A dot product is one number for each pair: the sum over D.",
                lambda a, b: a[:, :, None] * b[:, None],
            ),
            Mistake(
                "transposed",
                "Rows and columns are swapped: entry [t, s] holds the product of b's vector t and "
                "a's vector s.",
                "The rows of the result belong to `a`. Which of the two needs its last axes "
                "swapped?",
                _dots(turned=True),
            ),
            Mistake(
                "scaled",
                "The products are divided by the root of D.",
                "A dot product is the sum alone; attention scales it later.",
                _dots(scale=lambda depth: depth**-0.5),
            ),
            Mistake(
                "mean_over_depth",
                "The products are averaged over D, not summed.",
                "A dot product is a sum.",
                _dots(scale=lambda depth: 1 / depth),
            ),
            Mistake(
                "softmax_taken",
                "Softmax is applied to the products.",
                "The table holds plain dot products: they may be negative and need not sum to one.",
                _dots(after=lambda products: _softmax(products, -1)),
            ),
            Mistake(
                "reshaped_instead_of_transposed",
                "b was reshaped to (B, D, S), which swaps no axes: the entries of different "
                "vectors are mixed.",
                "A new form of the same numbers keeps their order. Which function swaps two axes?",
                _dots(right=_reshaped),
            ),
            Mistake(
                "cosine",
                "These are cosines: the vectors were scaled to unit length first.",
                "Leave the lengths as they are.",
                _dots(length=_unit),
            ),
            Mistake(
                "squared_distance",
                "These are squared distances, not products.",
                "Multiply entry by entry and sum over D.",
                _dots(match=lambda a, b: torch.cdist(a, b) ** 2),
            ),
            Mistake(
                "distance",
                "These are distances, not products.",
                "Multiply entry by entry and sum over D.",
                _dots(match=torch.cdist),
            ),
            Mistake(
                "on_the_diagonal_alone",
                "Only vectors at the same position are multiplied: the rest of the table is zero.",
                _SAME_PLACES[1],
                lambda a, b: dot_oracle(a, b) * torch.eye(a.shape[1], b.shape[1], dtype=a.dtype),
            ),
            Mistake(
                "batch_mixed",
                "The batch is summed over: every sequence gets the sum of all tables.",
                "The batch axis has to stay: `@` and einsum can both keep it.",
                _dots(page=lambda products: products.sum(0, keepdim=True).expand_as(products)),
            ),
            Mistake(
                "batch_of_b_summed",
                "The sequences of b are summed over the batch: every sequence of a meets all of "
                "them.",
                "In einsum, the batch needs the same letter in a, in b and in the result.",
                _dots(right=_whole_batch),
            ),
            Mistake(
                "first_sequence_of_b_for_all",
                "Every sequence of a meets the first sequence of b.",
                "Page n of the table holds the products of a[n] and b[n]. An index such as b[0] "
                "picks a single sequence.",
                _dots(right=_first_sequence),
            ),
            Mistake(
                "batch_lost",
                "The batch is summed over, and its axis is gone.",
                "The batch axis has to stay: `@` and einsum can both keep it.",
                _dots(page=lambda products: products.sum(0)),
            ),
            Mistake(
                "first_sequence_alone",
                "Only the first sequence of the batch is used.",
                "The table has one page for each sequence: (B, T, S).",
                _dots(page=lambda products: products[0]),
            ),
            Mistake(
                "first_table_for_all",
                "Every sequence gets the table of the first.",
                "The table has one page for each sequence: (B, T, S).",
                _dots(page=lambda products: products[:1].expand_as(products)),
            ),
            Mistake(
                "loop",
                "Sequences, or vectors, are taken one by one: the more there are, the more "
                "calls it takes.",
                "A matrix product and einsum both take the whole batch at once.",
                _one_sequence_at_a_time,
            ),
            *(
                Mistake(
                    f"summed_over_the_positions_of_{name}",
                    *_OVER_POSITIONS,
                    lambda a, b, axis=axis: (a[:, :, None] * b[:, None]).sum(axis),
                )
                for name, axis in (("a", 1), ("b", 2))
            ),
            Mistake("no_transpose", *_NO_TRANSPOSE, lambda a, b: a @ b),
            Mistake("all_axes_reversed", *_ALL_AXES, lambda a, b: a @ b.permute(2, 1, 0)),
            Mistake(
                "all_axes_reversed_bmm", *_ALL_AXES, lambda a, b: torch.bmm(a, b.permute(2, 1, 0))
            ),
            Mistake("batch_axis_swapped", *_BATCH_SWAPPED, lambda a, b: a @ b.transpose(0, 1)),
            Mistake(
                "batch_axis_swapped_bmm",
                *_BATCH_SWAPPED,
                lambda a, b: torch.bmm(a, b.transpose(0, 1)),
            ),
            Mistake("equal_places", *_SAME_PLACES, _equal_places),
            Mistake(
                "equal_places_by_einsum",
                *_SAME_PLACES,
                lambda a, b: torch.einsum("btd,btd->bt", a, b),
            ),
        ),
    ),
)
