"""Mistakes in turning scores into weights, for anything built by ``variant(**choices)``."""

from collections.abc import Callable
from typing import Any

from utils.checks.exercise import Mistake

Variant = Callable[..., Any]

_SHARES = (
    "Only exp makes every weight positive, whatever the scores: look at the formula of softmax."
)
_WHAT_IT_DOES = (
    "Softmax is exp of each score, divided by the sum of these along the keys. Which of the two "
    "steps is missing?"
)
_TWICE = (
    "Softmax is applied twice, so the weights come out nearly equal.",
    "What went through softmax is between 0 and 1 and sums to one: it is done. Follow the scores "
    "from step to step, through the functions that you call too.",
)
_KINDS = (
    ("softmax_twice", "twice", *_TWICE),
    ("softmax_twice_under_the_mask", "twice under the mask", *_TWICE),
    (
        "divided_by_their_sum",
        "shares",
        "The scores are divided by their sum: there is no exp.",
        _SHARES,
    ),
    (
        "sizes_divided_by_their_sum",
        "positive shares",
        "The scores lose their sign and are divided by their sum: there is no exp.",
        _SHARES,
    ),
    (
        "largest_takes_all",
        "largest",
        "The largest score takes all the weight.",
        "Softmax shares: what scores a little less gets a little less. argmax shares nothing, and "
        "no gradient comes through it.",
    ),
    (
        "sigmoid_for_softmax",
        "sigmoid",
        "A sigmoid is used in place of softmax: each score is squeezed on its own, and rows do "
        "not sum to one.",
        "The keys compete for one unit of attention. Which function sees all of a row's scores?",
    ),
    (
        "sigmoids_divided_by_their_sum",
        "sigmoid shares",
        "The weights are shares of sigmoids: softmax takes shares of exp.",
        "Which function makes a score positive in the formula of softmax?",
    ),
    (
        "one_added_to_every_sum",
        "one added",
        "One is added to what each row is divided by, so rows sum to less than one.",
        "The weights of a row share one unit of attention, and nothing beside the keys gets a part "
        "of it. A row with nothing allowed needs another guard.",
    ),
    (
        "exp_alone",
        "exp",
        "exp is applied, but nothing is divided: rows do not sum to one.",
        _WHAT_IT_DOES,
    ),
    ("no_softmax", "none", "The weights are the scores themselves: softmax is missing.",
     _WHAT_IT_DOES),
    (
        "log_softmax",
        "log",
        "The weights are logarithms of weights.",
        "log_softmax is softmax and then a logarithm. Nothing here asks for the second.",
    ),
)  # fmt: skip


def softmax_mistakes(variant: Variant) -> tuple[Mistake, ...]:
    """Return the mistakes in softmax that show whatever the scores are."""
    return tuple(
        Mistake(name, message, hint, variant(softmax=kind)) for name, kind, message, hint in _KINDS
    )
