"""What order does to a layer: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.probes import PROBES

Run = Callable[[Tensor], Tensor]
Change = Callable[[Tensor], Tensor]


def order_oracle(layer: Run, x: Tensor, order: Tensor) -> float:
    """Multiply by the permutation's matrix, before and after."""
    matrix = torch.eye(len(order), dtype=x.dtype)[order]
    return float(torch.dist(layer(matrix @ x).detach(), (matrix @ layer(x)).detach()))


@by_choices
def _order(
    *,
    before: Callable[[Tensor, Tensor], Tensor] = lambda x, order: x[:, order],
    again: Callable[[Tensor, Tensor], Tensor] = lambda y, order: y,
    beside: Callable[[Tensor, Tensor], Tensor] = lambda x, order: x,
    after: Callable[[Tensor, Tensor], Tensor] = lambda y, order: y[:, order],
    distance: Change = torch.linalg.vector_norm,
    norms_first: bool = False,
    relative: bool = False,
    plain: bool = True,
) -> Any:
    """Build breaks_equivariance with the given choices.

    Args:
        before: (x, order) -> what the layer gets.
        again: (the layer's output for that, order) -> what is compared.
        beside: (x, order) -> what the layer gets on the other side.
        after: (the layer's output for that, order) -> what it is compared with.
        distance: taken of the difference.
        norms_first: whether a norm is taken of each side, and then their difference.
        relative: whether the distance is divided by the length of the reordered outputs.
        plain: whether a number comes back, not a tensor.

    """

    def measured(layer: Run, x: Tensor, order: Tensor) -> Any:
        reordered = again(layer(before(x, order)), order).detach()
        sides = reordered, after(layer(beside(x, order)), order).detach()
        one, other = (side.norm() for side in sides) if norms_first else sides
        found = distance(one - other)
        found = found / sides[1].norm() if relative else found
        return found.item() if plain else found

    return measured


_BOTH_SIDES = "Call the layer twice: reorder the words for one call, and the results of the other."
ORDER = tuple(
    Mistake(name, message, hint, _order(**choices))
    for name, choices, message, hint in (
        (
            "mean_of_the_changes",
            {"distance": lambda d: d.abs().mean()},
            "The absolute differences are averaged; their L2 norm is asked for.",
            "The L2 distance is the root of the sum of all squared differences.",
        ),
        (
            "output_not_reordered",
            {"after": lambda y, order: y},
            "The outputs for the reordered words are compared place by place with the outputs for "
            "x: that tests invariance. Equivariance means that the outputs move with the words.",
            "Call the layer twice: reorder the words for one call, and the results of the other. "
            "Is any result compared in its old order?",
        ),
        (
            "input_not_reordered",
            {"before": lambda x, order: x},
            "The layer gets x in its old order on both sides.",
            _BOTH_SIDES,
        ),
        (
            "nothing_compared",
            {"before": lambda x, order: x, "after": lambda y, order: y},
            "Both sides are the same, whatever the layer is.",
            _BOTH_SIDES,
        ),
        (
            "order_undone",
            {"after": lambda y, order: y[:, order.argsort()]},
            "On one side words move by `order`, on the other by its inverse, which undoes it.",
            "Which word comes first on each side? It has to be the same one.",
        ),
        (
            "order_undone_before",
            {"before": lambda x, order: x[:, order.argsort()]},
            "On one side words move by `order`, on the other by its inverse, which undoes it.",
            "Which word comes first on each side? It has to be the same one.",
        ),
        (
            "reordered_words_on_both_sides",
            {"beside": lambda x, order: x[:, order]},
            "The layer gets the reordered words on both sides.",
            _BOTH_SIDES,
        ),
        (
            "both_put_back",
            {"again": lambda y, order: y[:, order.argsort()]},
            "The outputs for the reordered words are put back in order, and then compared with "
            "outputs that are reordered.",
            "Which word comes first on each side? It has to be the same one.",
        ),
        (
            "no_output_reordered",
            {"beside": lambda x, order: x[:, order.argsort()], "after": lambda y, order: y},
            "The layer gets reordered words on both sides, in one order and in its inverse; no "
            "output is reordered.",
            _BOTH_SIDES,
        ),
        (
            "order_of_the_batch",
            {"before": lambda x, order: x[order], "after": lambda y, order: y[order]},
            "The order is applied to the batch axis.",
            "Positions are the second axis of (B, T, D).",
        ),
        (
            "order_of_the_features",
            {"before": lambda x, order: x[..., order], "after": lambda y, order: y[..., order]},
            "The order is applied to the features.",
            "Positions are the second axis of (B, T, D).",
        ),
        (
            "difference_of_norms",
            {"norms_first": True},
            "The norms of both sides are compared. Different results can be equally long.",
            "Take the difference of the results first, then its norm.",
        ),
        (
            "largest_difference",
            {"distance": lambda d: d.abs().max()},
            "The largest difference is taken; the L2 distance is asked for.",
            "The root of the sum of all squares.",
        ),
        (
            "squared_distance",
            {"distance": lambda d: d.square().sum()},
            "The root is left out: that is the squared distance.",
            "The L2 distance is the root of the sum of squares.",
        ),
        (
            "mean_square",
            {"distance": lambda d: d.square().mean()},
            "The mean of the squares is taken, without a root.",
            "The L2 distance is the root of the sum of squares.",
        ),
        (
            "root_mean_square",
            {"distance": lambda d: d.square().mean().sqrt()},
            "The mean of the squares is taken, not their sum.",
            "The L2 distance is the root of the sum of squares.",
        ),
        (
            "relative_distance",
            {"relative": True},
            "The distance is divided by the length of the outputs, which makes it a fraction.",
            "The L2 distance itself is asked for: the root of the sum of squares.",
        ),
        (
            "summed_differences",
            {"distance": lambda d: d.abs().sum()},
            "The sizes of the differences are added: that is the L1 distance.",
            "The L2 distance is the root of the sum of squares.",
        ),
        (
            "signed_differences",
            {"distance": lambda d: d.sum()},
            "The differences are added with their signs, and cancel one another.",
            "The L2 distance is the root of the sum of squares.",
        ),
        (
            "distances_added",
            {"distance": lambda d: d.norm(dim=-1).sum()},
            "The distances of the single words are added.",
            "Take one root, over the sum of all squares.",
        ),
        (
            "distances_averaged",
            {"distance": lambda d: d.norm(dim=-1).mean()},
            "The distances of the single words are averaged.",
            "Take one root, over the sum of all squares.",
        ),
        (
            "first_sentence_alone",
            {"distance": lambda d: d[0].norm()},
            "Only the first sentence of the batch counts.",
            "Take one root, over the sum of all squares.",
        ),
        (
            "a_tensor",
            {"plain": False},
            "The result is a tensor, not a number.",
            "`.item()` turns a tensor with one entry into a number.",
        ),
        (
            "inverse_order_on_both_sides",
            {
                "before": lambda x, order: x[:, order.argsort()],
                "after": lambda y, order: y[:, order.argsort()],
            },
            "Words and outputs are both put into the inverse order.",
            "Position i gets what was at order[i]. A permutation's matrix has its ones at [i, "
            "order[i]]; transposed, it undoes the order.",
        ),
        (
            "sentences_added",
            {"distance": lambda d: d.flatten(1).norm(dim=1).sum()},
            "The distances of the single sentences are added.",
            "Take one root, over the sum of all squares.",
        ),
        (
            "sentences_averaged",
            {"distance": lambda d: d.flatten(1).norm(dim=1).mean()},
            "The distances of the single sentences are averaged.",
            "Take one root, over the sum of all squares.",
        ),
    )
)

EXERCISES = by_id(Exercise(PROBES["breaks_equivariance"], order_oracle, ORDER, tolerance=1e-4))
