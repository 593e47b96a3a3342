"""Mistakes with whole rows of a mask, for anything built by ``variant(**choices)``."""

from collections.abc import Callable
from typing import Any

from utils.checks.exercise import Mistake

Variant = Callable[..., Any]


def row_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    """Return the mistakes that treat a row by what else stands in it."""
    return (
        Mistake(
            "mask_of_the_first_sentence",
            "The mask of the first sentence is used for all.",
            "The mask has a row for each sentence: an index takes one of them.",
            variant(masking="first sentence"),
        ),
        Mistake(
            "as_many_first_positions",
            "The first positions are allowed, as many as the mask allows, wherever those stand.",
            "A mask may have holes: use it as it is, and not the lengths that it seems to tell.",
            variant(masking="first ones"),
        ),
        Mistake(
            "filled_with_the_lowest_score",
            "Blocked scores become the lowest score of their row, which softmax gives a share: the "
            "allowed keys are left with less than one.",
            "The fill value has to be below every score that can occur, whatever their scale.",
            variant(masking="lowest score, then zeroed"),
        ),
        Mistake(
            "first_key_of_an_empty_row",
            "In a row with nothing allowed the first key gets the whole weight.",
            "Such a row has no weight to give: block all of its scores, and set its weights to "
            "zero after softmax.",
            variant(masking="first key of an empty row"),
        ),
        Mistake(
            "mask_dropped_for_an_empty_row",
            "As soon as one row has nothing allowed, the mask is dropped in all others too.",
            "Each row is masked by itself. Only the weights of the empty one are set to zero.",
            variant(masking="dropped for an empty row"),
        ),
    )


def padded_queries_closed(variant: Variant) -> Mistake:
    """Return the mistake of taking padding away from the queries, too."""
    return Mistake(
        "padded_queries_closed",
        "The rows of padded queries are set to zero: the mask says who may be looked at, not who "
        "may look.",
        "Use the mask as it comes: (B, 1, S) is the same for every query. What padding finds, "
        "nobody reads.",
        variant(masking="padded queries too"),
    )
