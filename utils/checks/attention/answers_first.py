"""Prediction, additive attention and the weighted sum: what is right and commonly wrong."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.attention.answers_mask import LARGE_SCORES, MASK_MISTAKES, Table
from utils.checks.attention.probes import PROBES
from utils.checks.attention.reference import reference_attention
from utils.checks.attention.variants import masked_softmax
from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake
from utils.checks.observation import Observation

_PROBES = {probe.exercise: probe for probe in PROBES}


def _measured_spread() -> float:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 100_000, 64, generator=generator)
    return float((q * k).sum(-1).std())


def additive_oracle(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    """One linear layer over query and key side by side, tanh, one more linear layer."""
    pairs = torch.cat([query[:, None].expand(-1, keys.shape[1], -1), keys], -1)
    hidden = F.linear(pairs, torch.cat([w_q, w_k], 1)).tanh()
    scores: Tensor = F.linear(hidden, v)
    return scores


def _additive(activation: Any = torch.tanh, *, query_part: float = 1.0, v_part: bool = True) -> Any:
    def scores(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
        hidden: Tensor = activation(query_part * (query @ w_q.T)[:, None] + keys @ w_k.T)
        return hidden @ v if v_part else hidden.sum(-1)

    return scores


def _tanh_each(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    return ((query @ w_q.T).tanh()[:, None] + (keys @ w_k.T).tanh()) @ v


def _tanh_last(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    return (((query @ w_q.T)[:, None] + keys @ w_k.T) @ v).tanh()


def _without_axis(*, keys_first: bool) -> Any:
    """The projected query, (B, A), beside the projected keys, (B, S, A), as it is."""

    def scores(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
        asked, offered = query @ w_q.T, keys @ w_k.T
        return (offered + asked if keys_first else asked + offered).tanh() @ v

    return scores


def _multiplied(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    return ((query @ w_q.T)[:, None] * (keys @ w_k.T)).tanh() @ v


def attend_oracle(
    scores: Tensor, values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attention over S keys whose products with the query are the scores, by torch's kernel."""
    keys = scores[..., None]
    query = scores.new_ones(len(scores), 1, 1)
    allowed = None if mask is None else mask[:, None]
    context, weights = reference_attention(query, keys, values, allowed, scale=1.0)
    return context[:, 0], weights[:, 0]


def _attend(**choices: Any) -> Any:
    def attend(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        weights = masked_softmax(scores, mask, **choices)
        return (weights[:, None] @ values)[:, 0], weights

    return attend


def _raw_scores(
    scores: Tensor, values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    weights = attend_oracle(scores, values, mask)[1]
    return (scores[:, None] @ values)[:, 0], weights


def rows_sum_to_one(inputs: Inputs, seen: Observation) -> bool:
    """Each row of weights sums to one, or to zero where nothing is allowed."""
    weights = torch.as_tensor(seen.values["weights"])
    mask = inputs.get("mask")
    wanted = torch.ones(weights.shape[:-1]) if mask is None else mask.any(-1).float()
    return torch.allclose(weights.sum(-1).float(), wanted.expand(weights.shape[:-1]), atol=1e-4)


def blocked_keys_weigh_nothing(inputs: Inputs, seen: Observation) -> bool:
    """A key under the mask has no weight at all."""
    mask = inputs.get("mask")
    weights = torch.as_tensor(seen.values["weights"])
    return mask is None or not (weights * ~mask).any()


LAWS = (
    Invariant(
        "Each row of weights must sum to one (zero where nothing is allowed).", rows_sum_to_one
    ),
    Invariant("A key under the mask must have weight zero.", blocked_keys_weigh_nothing),
)


def mask_mistakes(variant: Any, table: Table = MASK_MISTAKES) -> tuple[Mistake, ...]:
    """The mistakes that a mask invites, for anything built by ``variant(**choices)``."""
    return tuple(
        Mistake(name, says, hint, variant(**choices)) for choices, name, says, hint in table
    )


FIRST = (
    Exercise(
        _PROBES["predict_score_spread"],
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
                "both_variances_added",
                "Products are multiplied, not added: a product of two unit normals has variance "
                "one, not two.",
                "Var(ab) = Var(a) Var(b) for independent entries with mean zero.",
                128**0.5,
            ),
        ),
        tolerance=0.03,
    ),
    Exercise(
        _PROBES["additive_scores"],
        additive_oracle,
        (
            Mistake(
                "no_tanh",
                "Without tanh the query only adds the same number to every score.",
                "The sum of the two projections goes through tanh before v.",
                _additive(lambda x: x),
            ),
            Mistake(
                "tanh_on_each_part",
                "tanh is taken of each projection, not of their sum.",
                "Add the two projections first.",
                _tanh_each,
            ),
            Mistake(
                "tanh_at_the_end",
                "tanh comes after v, so every score is squeezed between -1 and 1.",
                "tanh belongs to the hidden layer; v comes last and gives plain numbers.",
                _tanh_last,
            ),
            Mistake(
                "query_left_out",
                "The scores do not depend on the query.",
                "The projected query is added to each projected key: an axis for S has to be "
                "made for it.",
                _additive(query_part=0.0),
            ),
            *(
                Mistake(
                    name,
                    "The query has no axis where the keys have theirs: its B rows meet the S keys.",
                    "Write both shapes down, (B, A) and (B, S, A): they are matched from the last "
                    "axis on. Where must the query get an axis of size one?",
                    _without_axis(keys_first=keys_first),
                )
                for name, keys_first in (("no_axis_for_keys", False), ("keys_without_axis", True))
            ),
            Mistake(
                "multiplied",
                "The projections are multiplied; additive attention adds them.",
                "Look at the sign between the two projections in the formula.",
                _multiplied,
            ),
            Mistake(
                "v_left_out",
                "The hidden units are summed with equal weight: v is not used.",
                "v weighs the A hidden units.",
                _additive(v_part=False),
            ),
            Mistake(
                "other_activation",
                "A ReLU or a sigmoid stands where tanh should.",
                "Bahdanau's formula uses tanh.",
                _additive(torch.relu),
            ),
            Mistake(
                "sigmoid",
                "A sigmoid stands where tanh should.",
                "Bahdanau's formula uses tanh.",
                _additive(torch.sigmoid),
            ),
            Mistake(
                "already_normalised",
                "These are weights already: softmax is not part of the score.",
                "Return the plain scores; `attend` does the rest.",
                lambda *args: additive_oracle(*args).softmax(-1),
            ),
            Mistake(
                "size_one_axis_left",
                "The result keeps an axis of size one at its end.",
                "A product with v as a column gives (B, S, 1): with v as a plain vector the axis "
                "goes away. Softmax over such an axis would give ones everywhere.",
                lambda *args: additive_oracle(*args)[..., None],
            ),
        ),
    ),
    Exercise(
        _PROBES["attend"],
        attend_oracle,
        (
            *mask_mistakes(_attend),
            *mask_mistakes(_attend, LARGE_SCORES),
            Mistake(
                "softmax_over_batch",
                "Softmax runs over the batch: the sentences compete with one another.",
                "The weights of one sentence sum to one over its S keys.",
                _attend(axis=0),
            ),
            Mistake(
                "context_from_scores",
                "The context is made with the raw scores, not with the weights.",
                "Softmax first, then the weighted sum.",
                _raw_scores,
            ),
            Mistake(
                "plain_sum",
                "The values are summed without weights.",
                "Each value counts by its weight.",
                lambda s, v, m=None: (v.sum(1), attend_oracle(s, v, m)[1]),
            ),
            Mistake(
                "swapped_results",
                "The results come in the wrong order.",
                "Return (context, weights).",
                lambda s, v, m=None: attend_oracle(s, v, m)[::-1],
            ),
        ),
        LAWS,
    ),
)
