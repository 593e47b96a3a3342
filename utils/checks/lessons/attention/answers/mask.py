"""Mistakes that a mask invites, for anything built by ``variant(**choices)``."""

from collections.abc import Callable
from typing import Any

from utils.checks.exercise import Mistake
from utils.checks.lessons.attention.answers.rows import row_mistakes

Variant = Callable[..., Any]

_TAKES_AWAY = (
    "The fill value is a score that can occur: where the allowed ones lie below it, blocked keys "
    "take their weight, and setting that to zero does not give it back.",
    "The fill value has to be below every score that can occur, whatever their scale.",
)


def mask_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    """Return the mistakes with a mask that show whatever the scores are."""
    return (
        *_blocked_key_mistakes(variant),
        *_weak_fill_mistakes(variant),
        *_empty_row_mistakes(variant),
        *_no_mask_mistakes(variant),
    )


def _blocked_key_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "mask_ignored",
            "The mask changes nothing: keys under it still get weight.",
            "The mask has to act on the scores, before softmax. If you call masked_fill: it "
            "returns a new tensor. Is its result used?",
            variant(masking="ignored"),
        ),
        Mistake(
            "mask_inverted",
            "The mask is upside down: it keeps what it should block.",
            "In this course True means “may be attended to”. masked_fill fills where its mask is "
            "True.",
            variant(masking="inverted"),
        ),
        *_inverted(variant),
        Mistake(
            "values_without_the_mask",
            "The weights that are returned are masked, but the values are weighted as if there "
            "were no mask.",
            "One table of weights: mask the scores first, and use the same weights for both "
            "results.",
            variant(output_masked=False),
        ),
        Mistake(
            "mask_after_softmax",
            "The mask acts only after softmax, so rows sum to less than one.",
            "Blocked keys must not take part in the normalisation: block the scores, then "
            "softmax. If "
            "you do fill the scores: masked_fill returns a new tensor. Is its result used?",
            variant(masking="after"),
        ),
        Mistake(
            "filled_with_zero",
            "Blocked scores are set to zero or close to it, and exp(0) is one: they still get "
            "weight.",
            "Which score turns into a weight of zero under exp?",
            variant(masking="zero"),
        ),
        Mistake(
            "mask_added",
            "The mask is added to the scores as a number, so allowed keys only gain one.",
            "A boolean mask selects; it is not a number to add. Look at masked_fill.",
            variant(masking="added"),
        ),
        Mistake(
            "fill_leaks_at_large_scores",
            "The fill value is a score that can occur: it works for small scores, but where "
            "scores are large, weight leaks.",
            "The fill value has to be below every score that can occur, whatever their scale.",
            variant(fill=-100.0),
        ),
    )


def _weak_fill_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    fills = {"": -1.0, "_of_minus_ten": -10.0}
    return (
        *(
            Mistake(
                f"fill_too_weak{name}",
                f"Blocked keys get a score of about {fill:g}, which is an ordinary score: weight "
                "leaks to them.",
                "The fill value has to be below every score that can occur.",
                variant(fill=fill),
            )
            for name, fill in fills.items()
        ),
        *(
            Mistake(name, *_TAKES_AWAY, variant(masking="zeroed", fill=fill))
            for name, fill in (("zero_takes_weight_away", 0.0), ("weak_takes_weight_away", -1.0))
        ),
        Mistake(
            "fill_of_the_wrong_sign",
            "Blocked scores become the largest of all: blocked keys take all the weight, or NaN.",
            "Which end of the scores does exp turn into zero? Count the minus signs.",
            variant(masking="nan", fill=1e9),
        ),
        Mistake(
            "fill_of_plus_infinity",
            "Blocked scores become plus infinity: blocked keys take all the weight, or NaN.",
            "Which end of the scores does exp turn into zero? Count the minus signs.",
            variant(masking="nan", fill=float("inf")),
        ),
    )


def _no_mask_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    return tuple(
        Mistake(
            name,
            "Without a mask the call fails: None is used as if it were a tensor.",
            "mask is None when the caller passes none. Use it only when there is one.",
            variant(masking=masking),
        )
        for name, masking in (
            ("no_mask_not_expected", "not None"),
            ("no_mask_not_expected_by_a_method", "not None, by a method"),
        )
    )


def _inverted(variant: Variant) -> tuple[Mistake, ...]:
    return tuple(
        Mistake(
            f"mask_inverted_{name}",
            f"The mask is upside down: it keeps what it should block{further}.",
            "In this course True means “may be attended to”. masked_fill fills where its mask is "
            "True.",
            variant(masking=masking),
        )
        for name, masking, further in (
            ("with_nan", "inverted, nan", ", and a row that it blocks as a whole becomes NaN"),
            ("and_uniform", "inverted, uniform", ""),
            ("then_zeroed", "inverted, then zeroed", ", and the rest is set to zero afterwards"),
        )
    )


def _empty_row_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "empty_row_is_nan",
            "A row with nothing allowed becomes NaN: softmax divides zero by zero there.",
            "After softmax, set the weights of blocked keys to zero; that also removes the NaN.",
            variant(masking="nan"),
        ),
        Mistake(
            "empty_row_is_uniform",
            "A row with nothing allowed attends to all keys equally, padding included.",
            "With every score equal, softmax is uniform. Set the weights of blocked keys to zero.",
            variant(masking="uniform"),
        ),
        Mistake(
            "empty_row_of_added_infinity",
            "A row with nothing allowed becomes NaN: zero is divided by zero there.",
            "Fill the blocked scores before softmax, and set their weights to zero after it: "
            "filling "
            "keeps the NaN out of the gradient, zeroing out of the result.",
            variant(masking="infinity added"),
        ),
        Mistake(
            "empty_row_has_a_gradient_of_nan",
            "The result is right, but in a row with nothing allowed the gradient is NaN: a single "
            "such row would ruin a whole training run.",
            "Removing the NaN afterwards hides it in the result only: the gradient still goes "
            "back through it. No gradient flows back into scores that were filled, but one does "
            "flow into scores to which minus infinity was added.",
            variant(masking="infinity added, then zeroed"),
        ),
        Mistake(
            "empty_row_lowered_alike",
            "In a row with nothing allowed every score is lowered by the same amount, so "
            "blocked keys share the weight as if nothing had happened.",
            "Softmax sees only differences. Set the weights of blocked keys to zero after it.",
            variant(masking="lowered"),
        ),
        Mistake(
            "lowered_by_ten_thousand",
            "Scores under the mask are lowered by 10,000: too little where scores are larger "
            "still, and no help in a row where all are lowered by the same amount.",
            "A blocked key should get no weight, whatever its score was. What do you fill in, and "
            "what remains to be done in a row that is blocked as a whole?",
            variant(masking="lowered by ten thousand"),
        ),
        *_broken_row_mistakes(variant),
        *row_mistakes(variant),
    )


def _broken_row_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "zero_times_infinity",
            "Zero times infinity is NaN: that is what allowed keys get.",
            "Set the scores of blocked keys instead of calculating them: look at masked_fill.",
            variant(masking="zero times infinity"),
        ),
        Mistake(
            "zero_times_infinity_hidden",
            "Zero times infinity is NaN: that is what allowed keys get. It is set to zero "
            "afterwards, so no weight is left.",
            "Set the scores of blocked keys instead of calculating them: look at masked_fill.",
            variant(masking="zero times infinity, nan taken out"),
        ),
        Mistake(
            "masked_between_two_softmaxes",
            "Softmax comes first, then the mask, then softmax again: the softmax of weights is "
            "nearly even.",
            "One softmax is enough, if the scores are masked before it.",
            variant(masking="between"),
        ),
        Mistake(
            "whole_rows_blocked",
            "A row loses all of its weights as soon as one of its keys is blocked.",
            "The mask is about each key separately: the row's other keys share the whole weight.",
            variant(masking="whole rows"),
        ),
        Mistake(
            "zero_times_infinity_zeroed",
            "Zero times infinity is NaN: that is what allowed keys get.",
            "Set the scores of blocked keys instead of calculating them: look at masked_fill.",
            variant(masking="zero times infinity, then zeroed"),
        ),
    )


def query_mask_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    """Return the mistakes with a mask whose last two axes are exchanged."""
    return tuple(
        Mistake(
            name,
            "The mask acts on the queries: its last two axes are swapped.",
            "Scores are (..., T, S): rows are queries, columns are keys. Which of the two is the "
            "mask about?",
            variant(masking=masking),
        )
        for name, masking in (
            ("mask_on_queries", "queries"),
            ("mask_on_queries_with_nan", "queries, nan"),
        )
    )
