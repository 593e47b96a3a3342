"""Scaled dot-product attention, also under repair: right answers and common mistakes."""

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.answers.comparing import cosines
from utils.checks.lessons.attention.answers.first import LAWS
from utils.checks.lessons.attention.answers.mask import (
    half_guarded_mistakes,
    infinity_mistakes,
    large_score_mistakes,
    many_query_mistakes,
    mask_mistakes,
    mask_of_the_first_query,
    mask_on_the_values,
    query_mask_mistakes,
)
from utils.checks.lessons.attention.answers.rows import padded_queries_closed
from utils.checks.lessons.attention.answers.scores import (
    axis_mistakes,
    length_mistakes,
    product_mistakes,
    result_mistakes,
    scaling_mistakes,
    value_mistakes,
)
from utils.checks.lessons.attention.answers.softmaxes import overflow, softmax_mistakes
from utils.checks.lessons.attention.probes import PROBES
from utils.checks.lessons.attention.variants import attention_variant, random_attention
from utils.reference.attention import reference_attention


def _scaled_after_softmax(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    weights = reference_attention(q, k, v, mask, scale=1.0)[1] / q.shape[-1] ** 0.5
    return weights @ v, weights


def _rows_divided(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    columns = attention_variant(axis=-2)(q, k, v)[1]
    weights = columns / columns.sum(-1, keepdim=True)
    return weights @ v, weights


def _weights_alone(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return attention_variant(axis=-2)(q, k, v)[0], reference_attention(q, k, v)[1]


def _three_axes_only(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    _batch, _queries, _d_k = q.shape
    return reference_attention(q, k, v, mask)


def _causal_by_default(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return reference_attention(q, k, v, mask)


def _causal_in_self_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    is_square = q.shape[-2] == k.shape[-2]
    return (_causal_by_default if is_square else reference_attention)(q, k, v, mask)


_ROOTS = "Python computes powers before divisions: `d ** 0.5` and math.sqrt(d) are roots."
NUMBERS = (
    *scaling_mistakes(attention_variant),
    *axis_mistakes(attention_variant),
    *softmax_mistakes(attention_variant),
    *product_mistakes(attention_variant),
    *value_mistakes(attention_variant),
    *length_mistakes(attention_variant),
    Mistake(
        "divided_by_sqrt_of_d_v",
        "The scores are divided by the root of Dv, the size of a value.",
        "Which axis is summed over in the product of a query and a key? The size of that axis is "
        "what counts.",
        lambda q, k, v, mask=None: reference_attention(q, k, v, mask, scale=v.shape[-1] ** -0.5),
    ),
    overflow(attention_variant),
    Mistake(
        "all_axes_reversed",
        "`k.T` reverses all axes, the batch too.",
        "Only the last two axes may be swapped: the batch stays in front.",
        attention_variant(product=lambda q, k: q @ k.permute(*reversed(range(k.ndim)))),
    ),
    Mistake(
        "half_of_one_over_d_k",
        "The scores are divided by 2 Dk. Python reads `/ d ** 1 / 2` as a division by d and then "
        "another one by 2.",
        _ROOTS,
        attention_variant(scale=lambda q, k: 0.5 / k.shape[-1]),
    ),
    Mistake(
        "two_over_d_k",
        "The scores are divided by half of Dk: Python reads `d ** 1 / 2` as (d ** 1) / 2.",
        _ROOTS,
        attention_variant(scale=lambda q, k: 2 / k.shape[-1]),
    ),
)
_FROM_THE_FRONT = Mistake(
    "axis_counted_from_the_front",
    "Softmax runs over axis 2. With an axis for heads in front, the keys are no longer there.",
    "Count from the end: the keys are the last axis, whatever comes before it.",
    attention_variant(axis=2, masking="zeroed", fill=-1e9),
)
ATTENTION = (
    *NUMBERS,
    _FROM_THE_FRONT,
    Mistake(
        "scaled_after_softmax",
        "The weights are divided by sqrt(Dk), so rows sum to less than one.",
        "The division belongs to the scores, before softmax.",
        _scaled_after_softmax,
    ),
    Mistake(
        "three_axes_only",
        "The shape is unpacked into three sizes; with an axis for heads there are four.",
        "Count from the end: shape[-1], transpose(-2, -1) and @ work whatever comes in front.",
        _three_axes_only,
    ),
    Mistake(
        "as_many_keys_as_queries",
        "The mask is expanded to as many columns as there are queries.",
        "There may be more or fewer keys than queries: the last axis of scores and mask is S, not "
        "T.",
        attention_variant(masking="expanded to queries"),
    ),
    *(
        Mistake(
            f"cosines{name}",
            "Queries and keys are scaled to unit length first, so their lengths no longer count.",
            "The score is the product of query and key as they are, divided by the root of Dk.",
            attention_variant(product=cosines, scale=scale),
        )
        for name, scale in (("", lambda q, k: 1.0), ("_scaled", None))
    ),
    *(
        Mistake(name, message, hint, attention_variant(masking=masking))
        for name, masking, message, hint in (
            (
                "mask_as_an_index",
                "an index",
                "The mask is used as an index, and an index must have the scores' own shape: its "
                "axes of size one are not broadcast.",
                "masked_fill and torch.where broadcast a mask by themselves.",
            ),
            (
                "rows_by_an_index",
                "rows by an index",
                "Rows with nothing allowed are picked by an index of the mask's own shape, which "
                "is not broadcast to that of the weights.",
                "masked_fill and torch.where broadcast a mask by themselves; keepdim=True keeps "
                "the axis of the keys.",
            ),
        )
    ),
    Mistake(
        "mask_gets_an_axis",
        "The mask gets one more axis, and so do the weights.",
        "A mask broadcasts to (..., T, S) as it is: a caller with heads gives it an axis for them.",
        attention_variant(masking="another axis"),
    ),
    Mistake(
        "random_results",
        "Two calls with the same input differ: something random, such as dropout, is at work.",
        "Nothing random is asked for here.",
        random_attention,
    ),
    Mistake(
        "causal_by_default",
        "Where no mask is given, a causal one is made: every query sees earlier keys only.",
        "No mask means that every key may be looked at.",
        _causal_by_default,
    ),
    Mistake(
        "causal_in_self_attention",
        "Where there are as many queries as keys, a causal mask is applied that nobody passed in.",
        "In self-attention too, words may look both ways. A caller who wants a causal mask passes "
        "one in.",
        _causal_in_self_attention,
    ),
    mask_on_the_values(attention_variant),
    *mask_mistakes(attention_variant),
    *half_guarded_mistakes(attention_variant),
    *infinity_mistakes(attention_variant),
    *query_mask_mistakes(attention_variant)[:1],
    mask_of_the_first_query(attention_variant),
    padded_queries_closed(attention_variant),
    *large_score_mistakes(attention_variant),
    *many_query_mistakes(attention_variant),
    *result_mistakes(attention_variant),
)
_NAMED_OTHERWISE = {"softmax_over_queries", "softmax_over_batch", "no_scaling"}
_NOT_SEEN_HERE = {
    "other_axes_transposed",
    "weights_transposed",
    "softmax_twice_under_the_mask",
}
REPAIR = (
    Mistake(
        "still_over_queries",
        "The columns sum to one, the rows do not: it is not repaired yet.",
        "Look at the heat map: along which direction does the weight add up?",
        attention_variant(axis=-2),
    ),
    Mistake(
        "rows_divided_by_their_sum",
        "The rows sum to one now, but softmax still runs over the queries: they compete for each "
        "key before the rows are divided.",
        "No second division is needed: one softmax along the right axis does it.",
        _rows_divided,
    ),
    Mistake(
        "weights_mended_alone",
        "The weights that are returned are right now, but the values are still weighted with "
        "those normalised over the queries.",
        "One softmax is enough: return the same weights that you use for the values.",
        _weights_alone,
    ),
    _FROM_THE_FRONT,
    Mistake(
        "axis_1",
        "Softmax runs over axis 1. With a batch in front that is still not the keys' axis.",
        "Count from the end: the keys are the last axis, whatever comes before it.",
        attention_variant(axis=1),
    ),
    Mistake(
        "softmax_over_batch",
        "Now softmax runs over the batch.",
        "The keys are the last axis of the scores.",
        attention_variant(axis=0),
    ),
    Mistake(
        "scaling_lost",
        "The scores are no longer divided by sqrt(Dk).",
        "Only one thing was broken: keep the rest as it was.",
        attention_variant(scale=lambda q, k: 1.0),
    ),
    *(mistake for mistake in NUMBERS if mistake.name not in _NAMED_OTHERWISE | _NOT_SEEN_HERE),
    *result_mistakes(attention_variant),
)

EXERCISES = by_id(
    Exercise(PROBES["scaled_dot_product_attention"], reference_attention, ATTENTION, LAWS),
    Exercise(PROBES["repaired_attention"], reference_attention, REPAIR, LAWS[:1]),
)
