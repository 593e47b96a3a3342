"""The prediction and the weighted sum: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.lessons.attention.answers.mask import (
    half_guarded_mistakes,
    infinity_mistakes,
    large_score_mistakes,
    mask_mistakes,
    mask_on_the_values,
)
from utils.checks.lessons.attention.answers.softmaxes import overflow, softmax_mistakes
from utils.checks.lessons.attention.masking import masked_softmax
from utils.checks.lessons.attention.probes import PROBES
from utils.checks.lessons.attention.variants import RETURNED
from utils.checks.observation import Observation
from utils.reference.attention import reference_attention


def _measured_spread() -> float:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 100_000, 64, generator=generator)
    return float((q * k).sum(-1).std())


def attend_oracle(
    scores: Tensor, values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend with torch's kernel to S keys whose products with the query are the scores."""
    keys = scores[..., None]
    query = scores.new_ones(len(scores), 1, 1)
    allowed = None if mask is None else mask[:, None]
    context, weights = reference_attention(query, keys, values, allowed, scale=1.0)
    return context[:, 0], weights[:, 0]


# (scores, weights, values) -> context: (B, S), (B, S) and (B, S, Dv) to (B, Dv), if it is right.
_CONTEXTS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "weighted": lambda scores, weights, values: (weights[:, None] @ values)[:, 0],
    "by scores": lambda scores, weights, values: (scores[:, None] @ values)[:, 0],
    "sum": lambda scores, weights, values: values.sum(1),
    "mean": lambda scores, weights, values: values.mean(1),
    "divided": lambda scores, weights, values: (weights[..., None] * values).mean(1),
    "axis kept": lambda scores, weights, values: weights[:, None] @ values,
    "no axis": lambda scores, weights, values: weights @ values,
    "over features": lambda scores, weights, values: (weights[..., None] * values).sum(-1),
    "over batch": lambda scores, weights, values: (weights[..., None] * values).sum(0),
    "largest": lambda scores, weights, values: (weights[..., None] * values).amax(1),
    "not summed": lambda scores, weights, values: weights[..., None] * values,
    "best": lambda scores, weights, values: values[torch.arange(len(values)), weights.argmax(1)],
    "first weights": lambda scores, weights, values: weights[0] @ values,
    "first values": lambda scores, weights, values: weights @ values[0],
    "all weights": lambda scores, weights, values: weights.sum(0) @ values,
    "all values": lambda scores, weights, values: weights @ values.sum(0),
}


@by_choices
def _attend(
    *,
    context: str = "weighted",
    output_masked: bool = True,
    weights_masked: bool = True,
    returned: str = "both",
    **choices: Any,
) -> Any:
    """Build attend with the given choices of mask, context and results."""

    def attend(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Any:
        weights = masked_softmax(scores, mask if weights_masked else None, **choices)
        used = weights if output_masked else masked_softmax(scores, None, **choices)
        if not weights_masked and mask is not None:
            used = used * mask
        return RETURNED[returned](_CONTEXTS[context](scores, used, values), weights, scores)

    return attend


def rows_sum_to_one(inputs: Inputs, seen: Observation) -> bool:
    """Check that each row of weights sums to one, or to zero where nothing is allowed."""
    weights = torch.as_tensor(seen.values["weights"])
    mask = inputs.get("mask")
    wanted = torch.ones(weights.shape[:-1]) if mask is None else mask.any(-1).float()
    return torch.allclose(weights.sum(-1).float(), wanted.expand(weights.shape[:-1]), atol=1e-4)


def blocked_keys_weigh_nothing(inputs: Inputs, seen: Observation) -> bool:
    """Check that keys under the mask have no weight at all."""
    mask = inputs.get("mask")
    weights = torch.as_tensor(seen.values["weights"])
    return mask is None or not (weights * ~mask).any()


LAWS = (
    Invariant(
        "Each row of weights must sum to one (zero where nothing is allowed).", rows_sum_to_one
    ),
    Invariant("A key under the mask must have weight zero.", blocked_keys_weigh_nothing),
)


_OWN_SENTENCE = (
    "Row b of the weights belongs to the values of sentence b. As (B, 1, S) the weights meet them "
    "sentence by sentence; in einsum, both carry the same letter for the batch."
)
_ONE_WEIGHT_EACH = "Each value is multiplied by its weight, and the S results are added up."
CONTEXTS = tuple(
    Mistake(name, message, hint, _attend(context=context))
    for name, context, message, hint in (
        (
            "context_from_scores",
            "by scores",
            "The context is made with the raw scores, not with the weights.",
            "Softmax first, then the weighted sum.",
        ),
        ("plain_sum", "sum", "The values are summed without weights.", _ONE_WEIGHT_EACH),
        ("plain_mean", "mean", "The values are averaged without weights.", _ONE_WEIGHT_EACH),
        (
            "weighted_mean",
            "divided",
            "The weighted values are averaged: dividing the sum by S is one division too many.",
            "The weights sum to one already.",
        ),
        (
            "context_keeps_an_axis",
            "axis kept",
            "The context keeps an axis of size one: (B, 1, Dv).",
            "You added that axis for the product. Where do you remove it again?",
        ),
        (
            "weights_without_an_axis",
            "no axis",
            "(B, S) times (B, S, Dv) is (B, B, Dv): the weights of all sentences meet the values "
            "of each.",
            "One sentence's weights are a single row, (1, S). Where do the weights need an axis?",
        ),
        (
            "summed_over_features",
            "over features",
            "The sum runs over Dv, the entries of a value, not over the S values, so the result is "
            "(B, S).",
            _ONE_WEIGHT_EACH,
        ),
        (
            "summed_over_batch",
            "over batch",
            "The sum runs over the batch and mixes the sentences: (S, Dv).",
            _ONE_WEIGHT_EACH,
        ),
        (
            "largest_weighted_value",
            "largest",
            "The largest of the weighted values is taken; they should be added up.",
            _ONE_WEIGHT_EACH,
        ),
        (
            "not_summed",
            "not summed",
            "The values are weighted but not added up, so the result is (B, S, Dv).",
            _ONE_WEIGHT_EACH,
        ),
        (
            "value_of_the_largest_weight",
            "best",
            "Only the value with the largest weight is used; every value should count by its "
            "weight.",
            "Attention averages; it does not pick. Through a pick no gradient reaches the weights.",
        ),
        (
            "weights_of_the_first_sentence",
            "first weights",
            "The values of every sentence are averaged with the weights of the first sentence.",
            _OWN_SENTENCE,
        ),
        (
            "values_of_the_first_sentence",
            "first values",
            "The weights of every sentence meet the values of the first sentence.",
            _OWN_SENTENCE,
        ),
        (
            "weights_of_all_sentences",
            "all weights",
            "The weights of all sentences are added up before they meet the values.",
            _OWN_SENTENCE,
        ),
        (
            "values_of_all_sentences",
            "all values",
            "The values of all sentences are added up before they meet the weights.",
            _OWN_SENTENCE,
        ),
    )
)
RESULTS = (
    Mistake(
        "swapped_results",
        "The two results are returned in the wrong order.",
        "Return (context, weights).",
        _attend(returned="swapped"),
    ),
    Mistake(
        "context_only",
        "Only one of the two results is returned, the context.",
        "Return the pair (context, weights).",
        _attend(returned="output"),
    ),
    Mistake(
        "weights_only",
        "Only one of the two results is returned, the weights.",
        "Return the pair (context, weights).",
        _attend(returned="weights"),
    ),
    Mistake(
        "scores_returned",
        "The second result is the scores; it should be the weights.",
        "Return the weights that you use for the values.",
        _attend(returned="scores"),
    ),
)

_OF_A_PRODUCT = "Var(ab) = Var(a) Var(b) for independent entries with mean zero."

EXERCISES = by_id(
    Exercise(
        PROBES["predict_score_spread"],
        _measured_spread,
        (
            Mistake(
                "variance",
                "That is the variance. The standard deviation is its square root.",
                "Each of the 64 products has variance 1, and variances of independent terms add.",
                64,
            ),
            Mistake(
                "stays_one",
                "Each single product has a standard deviation of 1, but 64 of them are added.",
                "When independent terms are added, what adds up: deviations or variances?",
                1,
            ),
            Mistake(
                "inverse",
                "That is the factor that repairs the spread, not the spread.",
                "Adding more terms makes the sum vary more.",
                0.125,
            ),
            Mistake(
                "number_squared",
                "That is 64 squared. The spread grows more slowly than the number of products.",
                "Each of the 64 products has variance 1, and variances of independent terms add. "
                "How does a deviation come from a variance?",
                64**2,
            ),
            Mistake(
                "both_variances_added",
                "That would be the spread of a sum of 128 numbers. Here 64 products are added, "
                "and a product of two unit normals has variance one, not two.",
                _OF_A_PRODUCT,
                128**0.5,
            ),
            Mistake(
                "variance_of_both",
                "128 is the variance of a sum of 128 numbers. Here 64 products are added, and a "
                "deviation is the root of a variance.",
                _OF_A_PRODUCT,
                128,
            ),
            Mistake(
                "mean",
                "0 is the mean: scores above it are as likely as scores below. How far from it are "
                "they, typically?",
                "Each of the 64 products has variance 1, and variances of independent terms add.",
                0,
            ),
            Mistake(
                "mean_size",
                "That is the mean size of the score, without its sign. A standard deviation is the "
                "root of the mean square.",
                "Each of the 64 products has variance 1, and variances of independent terms add.",
                8 * (2 / torch.pi) ** 0.5,
            ),
            Mistake(
                "root_taken_twice",
                "The root is taken twice.",
                "Each of the 64 products has variance 1, so the variance is 64 times that: which "
                "root of it is the deviation?",
                64**0.25,
            ),
            Mistake(
                "variance_of_the_mean",
                "That is the variance of a mean of 64 numbers. A score is their sum, and its "
                "spread is a root.",
                "Adding more terms makes the sum vary more.",
                1 / 64,
            ),
        ),
        tolerance=0.03,
    ),
    Exercise(
        PROBES["attend"],
        attend_oracle,
        (
            *CONTEXTS,
            *softmax_mistakes(_attend),
            overflow(_attend),
            Mistake(
                "softmax_over_batch",
                "Softmax runs over the batch: the sentences compete with one another.",
                "The weights of one sentence sum to one over its S keys.",
                _attend(axis=0),
            ),
            Mistake(
                "scores_scaled",
                "The scores are divided by a root before softmax, but they arrive ready for it.",
                "`attend` begins with the softmax of the scores as they are.",
                lambda scores, values, mask=None: attend_oracle(
                    scores / values.shape[-1] ** 0.5, values, mask
                ),
            ),
            mask_on_the_values(_attend),
            *mask_mistakes(_attend),
            *large_score_mistakes(_attend),
            *half_guarded_mistakes(_attend),
            *infinity_mistakes(_attend),
            *RESULTS,
        ),
        LAWS,
    ),
)
