"""Mistakes in scores and in softmax's axis, for anything built by ``variant(**choices)``."""

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor

from utils.checks.exercise import Mistake

Variant = Callable[..., Any]
_SUMMED = (
    "Which axis is summed over in the product of a query and a key? The size of that axis is what "
    "counts."
)


def scaling_mistakes(variant: Variant, d_k: str = "Dk") -> tuple[Mistake, ...]:
    """Return the mistakes in the factor on the scores.

    Args:
        variant: builds an answer from choices.
        d_k: what the exercise calls the entries of a query.

    """
    return (
        Mistake(
            "no_scaling",
            f"The scores are not divided by sqrt({d_k}).",
            "Look at the formula again: what is the product of Q and K divided by?",
            variant(scale=lambda q, k: 1.0),
        ),
        Mistake(
            "divided_by_d_k",
            f"The scores are divided by {d_k}, not by its root: the weights are too even.",
            f"The spread of the scores grows with the root of {d_k}. Dividing by the root twice, "
            "here and in a function that you call, is dividing by the whole.",
            variant(scale=lambda q, k: 1 / q.shape[-1]),
        ),
        Mistake(
            "divided_by_eight",
            f"The scores are divided by 8, whatever {d_k} is.",
            "8 is the root of 64, the size of the paper's heads. Ask the queries for theirs.",
            variant(scale=lambda q, k: 1 / 8),
        ),
        Mistake(
            "divided_by_the_fourth_root",
            f"The scores are divided by the fourth root of {d_k}, which is too little.",
            "The fourth root is right only where queries and keys are both divided by it, before "
            "the product.",
            variant(scale=lambda q, k: q.shape[-1] ** -0.25),
        ),
        Mistake(
            "multiplied_by_the_root",
            f"The scores are multiplied by sqrt({d_k}) instead of divided.",
            "The factor has to make large scores smaller.",
            variant(scale=lambda q, k: q.shape[-1] ** 0.5),
        ),
        Mistake(
            "multiplied_by_d_k",
            f"The scores are multiplied by {d_k} instead of divided by its root.",
            "The factor has to make large scores smaller.",
            variant(scale=lambda q, k: float(q.shape[-1])),
        ),
    )


def length_mistakes(variant: Variant, *, queries: bool = True) -> tuple[Mistake, ...]:
    """Return the mistakes of a scale made of a wrong size.

    Args:
        variant: builds an answer from choices.
        queries: whether there may be another number of queries than of keys.

    """
    sizes = (
        ("divided_by_sqrt_of_length", "a sequence length", -2, True),
        ("divided_by_sqrt_of_queries", "the number of queries", -2, False),
        ("divided_by_sqrt_of_batch", "the batch's size", 0, True),
    )
    return tuple(
        Mistake(
            name,
            f"The scores are divided by the root of {called}.",
            _SUMMED,
            variant(scale=_root_of(axis, of_keys)),
        )
        for name, called, axis, of_keys in sizes
        if queries or of_keys
    )


def _root_of(axis: int, of_keys: bool) -> Callable[[Tensor, Tensor], float]:
    def factor(q: Tensor, k: Tensor) -> float:
        return 1 / math.sqrt((k if of_keys else q).shape[axis])

    return factor


def axis_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    """Return the mistakes in the axis that softmax runs over."""
    hint = "Each query spreads one unit of attention over the keys. Which axis are the keys?"
    over = (
        (
            "softmax_over_queries",
            "Softmax runs over the queries: columns sum to one, rows do not.",
            {"axis": -2},
        ),
        (
            "softmax_over_batch",
            "Softmax runs over the batch: the sentences compete with one another.",
            {"axis": 0},
        ),
        (
            "softmax_over_everything",
            "Softmax runs over queries and keys together: the whole table sums to one.",
            {"softmax": "whole table"},
        ),
        (
            "softmax_over_both_axes",
            "Softmax runs over the queries, and then over the keys.",
            {"softmax": "both axes"},
        ),
    )
    return tuple(
        Mistake(name, message, hint, variant(**choices)) for name, message, choices in over
    )


def product_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    """Return the mistakes in the product of queries and keys."""
    fits = "A query meets a key along Dk: swap the last two axes of k."
    return (
        Mistake(
            "no_transpose",
            "The matrices do not fit: q and k both have Dk last.",
            fits,
            variant(product=lambda q, k: q @ k),
        ),
        Mistake(
            "keys_reshaped",
            "The keys are reshaped, not transposed, which mixes up their entries.",
            "A new form of the same numbers keeps their order. Which function swaps two axes?",
            variant(product=lambda q, k: q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])),
        ),
        Mistake(
            "other_axes_transposed",
            "Axes 1 and 2 of the keys are swapped: with an axis for heads they are not the last "
            "two.",
            "Count from the end: -1 and -2 are the last two axes, however many there are.",
            variant(product=lambda q, k: q @ k.transpose(1, 2)),
        ),
        Mistake(
            "queries_transposed",
            "Queries and keys are swapped: the weights have a row for each key.",
            "The result needs a row for each query: T comes before S, in the product and after "
            "softmax.",
            variant(product=lambda q, k: k @ q.transpose(-2, -1)),
        ),
    )


def result_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    """Return the mistakes in what comes back."""
    one = "Return the pair (output, weights)."
    results = (
        ("output_only", "Only one of the two results is returned, the output.", one, "output"),
        ("weights_only", "Only one of the two results is returned, the weights.", one, "weights"),
        (
            "swapped_results",
            "The two results are returned in the wrong order.",
            "Return (output, weights).",
            "swapped",
        ),
        (
            "scores_returned",
            "The second result is the scores; it should be the weights.",
            "Return the weights that you use for the values.",
            "scores",
        ),
    )
    return tuple(
        Mistake(name, message, hint, variant(returned=kind))
        for name, message, hint, kind in results
    )


def value_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    """Return the mistakes in what the output mixes."""
    hint = "The weights come from q and k, and they are applied to v."
    return (
        Mistake(
            "values_from_keys",
            "The output is a mixture of keys, not of values.",
            hint,
            variant(mixes="k"),
        ),
        Mistake(
            "weights_transposed",
            "The weights are transposed before they are multiplied by the values.",
            "A row of the weights belongs to a query: row t, times the values, gives output t.",
            variant(turned=True),
        ),
    )
