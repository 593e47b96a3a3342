"""Scaled dot-product attention, masks and SelfAttention: what is right and commonly wrong."""

from typing import Any

import torch
from torch import Tensor

from utils.checks.attention.answers_first import LAWS, mask_mistakes
from utils.checks.attention.answers_mask import LARGE_SCORES, MANY_QUERIES
from utils.checks.attention.probes import PROBES
from utils.checks.attention.reference import reference_attention
from utils.checks.attention.variants import attention_variant, self_attention_variant
from utils.checks.exercise import Exercise, Mistake

_PROBES = {probe.exercise: probe for probe in PROBES}

SCALING_MISTAKES = (
    Mistake(
        "no_scaling",
        "The scores are not divided by sqrt(Dk).",
        "Look at the formula once more: what stands under the product of Q and K?",
        attention_variant(scale=lambda q, k: 1.0),
    ),
    Mistake(
        "divided_by_d_k",
        "The scores are divided by Dk itself, so the weights are too even.",
        "The spread of the scores grows with the root of Dk, not with Dk.",
        attention_variant(scale=lambda q, k: 1 / q.shape[-1]),
    ),
    Mistake(
        "divided_by_sqrt_of_length",
        "The scores are divided by the root of a sequence length.",
        "Which axis is summed over in the product of a query and a key? Its size counts.",
        attention_variant(scale=lambda q, k: k.shape[-2] ** -0.5),
    ),
    Mistake(
        "divided_by_sqrt_of_queries",
        "The scores are divided by the root of the number of queries.",
        "Which axis is summed over in the product of a query and a key? Its size counts.",
        attention_variant(scale=lambda q, k: q.shape[-2] ** -0.5),
    ),
    Mistake(
        "divided_by_sqrt_of_d_v",
        "The scores are divided by the root of Dv, the size of a value.",
        "Which axis is summed over in the product of a query and a key? Its size counts.",
        lambda q, k, v, mask=None: reference_attention(q, k, v, mask, scale=v.shape[-1] ** -0.5),
    ),
    Mistake(
        "multiplied_by_the_root",
        "The scores are multiplied by sqrt(Dk) where they should be divided.",
        "The factor has to make large scores smaller.",
        attention_variant(scale=lambda q, k: q.shape[-1] ** 0.5),
    ),
)

AXIS_MISTAKES = (
    Mistake(
        "softmax_over_queries",
        "Softmax runs over the queries: columns sum to one, rows do not.",
        "Each query spreads one unit of attention over the keys. Which axis are the keys?",
        attention_variant(axis=-2),
    ),
    Mistake(
        "softmax_over_batch",
        "Softmax runs over the batch: the sentences compete with one another.",
        "Each query spreads one unit of attention over the keys. Which axis are the keys?",
        attention_variant(axis=0),
    ),
)


def _product_without_transpose(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    del mask
    weights = (q @ k).softmax(-1)
    return weights @ v, weights


def _scaled_after_softmax(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    weights = reference_attention(q, k, v, mask, scale=1.0)[1] / q.shape[-1] ** 0.5
    return weights @ v, weights


def _rows_divided(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    columns = attention_variant(axis=-2)(q, k, v)[1]
    weights = columns / columns.sum(-1, keepdim=True)
    return weights @ v, weights


def padding_oracle(lengths: Tensor, max_len: int) -> Tensor:
    """Entry by entry: position s of a sentence is real when s < its length."""
    rows = [[[s < int(n) for s in range(max_len)]] for n in lengths]
    return torch.tensor(rows, dtype=torch.bool)


def causal_oracle(size: int) -> Tensor:
    """Entry by entry: position t may look at s when s <= t."""
    return torch.tensor([[[s <= t for s in range(size)] for t in range(size)]])


def _class_mistake(name: str, says: str, hint: str, **choices: Any) -> Mistake:
    return Mistake(name, says, hint, self_attention_variant(**choices))


_MASK_BUILDING = (
    Exercise(
        _PROBES["padding_mask"],
        padding_oracle,
        (
            Mistake(
                "mask_inverted",
                "The mask is True on the padding.",
                "In this course True means “may be attended to”, as in torch's "
                "scaled_dot_product_attention.",
                lambda lengths, n: ~padding_oracle(lengths, n),
            ),
            Mistake(
                "one_too_many",
                "Each sentence gets one position too many.",
                "Positions count from 0: a sentence of 2 words has positions 0 and 1.",
                lambda lengths, n: padding_oracle(lengths + 1, n),
            ),
            Mistake(
                "one_too_few",
                "Each sentence loses its last word.",
                "Positions count from 0: a sentence of 2 words has positions 0 and 1.",
                lambda lengths, n: padding_oracle(lengths - 1, n),
            ),
            Mistake(
                "no_axis_for_queries",
                "The mask is (B, S): it lacks the axis that broadcasts over queries.",
                "An axis of size one has to stand between B and S.",
                lambda lengths, n: padding_oracle(lengths, n)[:, 0],
            ),
            Mistake(
                "not_boolean",
                "The mask is made of numbers.",
                "A comparison gives a boolean tensor; keep it as it is.",
                lambda lengths, n: padding_oracle(lengths, n).float(),
            ),
            Mistake(
                "integers",
                "The mask is made of whole numbers.",
                "A comparison gives a boolean tensor; keep it as it is.",
                lambda lengths, n: padding_oracle(lengths, n).long(),
            ),
            Mistake(
                "as_long_as_the_longest",
                "The mask is as long as the longest sentence, not max_len.",
                "Count positions up to max_len.",
                lambda lengths, n: padding_oracle(lengths, int(lengths.max())),
            ),
        ),
    ),
    Exercise(
        _PROBES["causal_mask"],
        causal_oracle,
        (
            Mistake(
                "looks_ahead",
                "Each position sees itself and what comes after it.",
                "Row t is the query. It may look at positions s up to t: the lower triangle.",
                lambda n: causal_oracle(n).transpose(1, 2),
            ),
            Mistake(
                "without_itself",
                "A position may not look at itself, so the first one sees nothing.",
                "The diagonal is allowed.",
                lambda n: causal_oracle(n) & ~torch.eye(n, dtype=torch.bool),
            ),
            Mistake(
                "one_ahead",
                "Each position sees one step into the future.",
                "The triangle ends with the diagonal.",
                lambda n: torch.ones(1, n, n, dtype=torch.bool).tril(1),
            ),
            Mistake(
                "blocked_is_true",
                "The mask is True where attention is blocked.",
                "In this course True means “may be attended to”.",
                lambda n: ~causal_oracle(n),
            ),
            Mistake(
                "no_axis_for_the_batch",
                "The mask is (T, T): it lacks the axis that broadcasts over the batch.",
                "Put an axis of size one in front.",
                lambda n: causal_oracle(n)[0],
            ),
            Mistake(
                "not_boolean",
                "The mask is made of numbers.",
                "torch.tril keeps the type it is given: give it a boolean tensor.",
                lambda n: causal_oracle(n).float(),
            ),
        ),
    ),
)

ATTENTION = (
    Exercise(
        _PROBES["scaled_dot_product_attention"],
        reference_attention,
        (
            *SCALING_MISTAKES,
            *AXIS_MISTAKES,
            *mask_mistakes(attention_variant),
            *mask_mistakes(attention_variant, LARGE_SCORES + MANY_QUERIES),
            Mistake(
                "values_from_keys",
                "The output is a mixture of keys, not of values.",
                "The weights come from q and k; what they weigh is v.",
                attention_variant(keys_as_values=True),
            ),
            Mistake(
                "no_transpose",
                "The matrices do not fit: q and k both have Dk last.",
                "A query meets a key along Dk: swap the last two axes of k.",
                _product_without_transpose,
            ),
            Mistake(
                "scaled_after_softmax",
                "The weights are divided by sqrt(Dk), so rows sum to less than one.",
                "The division belongs to the scores, before softmax.",
                _scaled_after_softmax,
            ),
            Mistake(
                "output_only",
                "Only one of the two results comes back.",
                "Return the pair (output, weights).",
                lambda q, k, v, mask=None: reference_attention(q, k, v, mask)[0],
            ),
            Mistake(
                "swapped_results",
                "The results come in the wrong order.",
                "Return (output, weights).",
                lambda q, k, v, mask=None: reference_attention(q, k, v, mask)[::-1],
            ),
        ),
        LAWS,
    ),
    *_MASK_BUILDING,
    Exercise(
        _PROBES["SelfAttention"],
        self_attention_variant(),
        (
            _class_mistake(
                "values_not_projected",
                "The output mixes the inputs themselves: w_v is not used.",
                "Queries, keys and values each go through their own projection.",
                projected="qk",
            ),
            _class_mistake(
                "scores_from_inputs",
                "The weights are computed from the inputs: w_q and w_k are not used.",
                "The projected queries and keys were meant, not x itself.",
                projected="v",
            ),
            _class_mistake(
                "queries_and_keys_swapped",
                "Queries and keys have changed places.",
                "w_q makes the first argument, w_k the second.",
                swapped=True,
            ),
            _class_mistake(
                "mask_not_passed_on",
                "The mask is accepted and then forgotten.",
                "Pass it on to scaled_dot_product_attention.",
                uses_mask=False,
            ),
            _class_mistake(
                "projections_with_bias",
                "The projections have a bias, and the stub asks for none.",
                "nn.Linear has a bias unless you say otherwise.",
                bias=True,
            ),
            _class_mistake(
                "output_only",
                "Only one of the two results comes back.",
                "Return the pair (output, weights).",
                pair=False,
            ),
            _class_mistake(
                "no_scaling",
                "The scores are not divided by sqrt(d_k).",
                "Call your scaled_dot_product_attention rather than writing it again.",
                attention=staticmethod(attention_variant(scale=lambda q, k: 1.0)),
            ),
            _class_mistake(
                "softmax_over_queries",
                "Softmax runs over the queries: columns sum to one, rows do not.",
                "Call your scaled_dot_product_attention rather than writing it again.",
                attention=staticmethod(attention_variant(axis=-2)),
            ),
        ),
        LAWS,
    ),
    Exercise(
        _PROBES["repaired_attention"],
        reference_attention,
        (
            Mistake(
                "still_over_queries",
                "The columns sum to one, the rows do not: it is not repaired yet.",
                "Look at the heat map: along which direction does the weight add up?",
                attention_variant(axis=-2),
            ),
            Mistake(
                "rows_divided_by_their_sum",
                "The rows sum to one now, but softmax still runs over the queries: they compete "
                "for each key before the rows are divided.",
                "No second division is needed: one softmax along the right axis does it.",
                _rows_divided,
            ),
            Mistake(
                "softmax_over_batch",
                "Now softmax runs over the batch.",
                "The keys are the last axis of the scores.",
                attention_variant(axis=0),
            ),
            Mistake(
                "scaling_lost",
                "The axis is right now, but the scaling got lost on the way.",
                "Only one thing was broken: keep the rest as it was.",
                attention_variant(scale=lambda q, k: 1.0),
            ),
        ),
        LAWS[:1],
    ),
)
