"""Additive attention: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.probes import PROBES

Unit = Callable[[Tensor], Tensor]
Inner = Callable[[Tensor, Tensor], Tensor]
_WEIGHED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "v": lambda hidden, v: hidden @ v,
    "sum": lambda hidden, v: hidden.sum(-1),
    "mean": lambda hidden, v: (hidden * v).mean(-1),
    "root": lambda hidden, v: hidden @ v / len(v) ** 0.5,
    "each": lambda hidden, v: hidden * v,
}


def _same(x: Tensor) -> Tensor:
    return x


def additive_oracle(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    """Apply a linear layer to query and key side by side, then tanh and another linear layer."""
    pairs = torch.cat([query[:, None].expand(-1, keys.shape[1], -1), keys], -1)
    hidden = F.linear(pairs, torch.cat([w_q, w_k], 1)).tanh()
    scores: Tensor = F.linear(hidden, v)
    return scores


@by_choices
def _additive(
    *,
    activation: Unit = torch.tanh,
    at: str = "sum",
    join: Callable[[Tensor, Tensor], Tensor] = torch.add,
    query_as: Unit = _same,
    keys_as: Unit = _same,
    axis: bool = True,
    turned: Unit = torch.t,
    inner: Inner = lambda hidden, v: hidden,
    weighed: str = "v",
    finish: Unit = _same,
) -> Any:
    """Build additive scores with the given choices.

    Args:
        activation: what stands where tanh should.
        at: what it is taken of: the "sum", "each" part or the "score".
        join: how projected query and keys meet.
        query_as: applied to the projected query (B, A).
        keys_as: applied to the projected keys (B, S, A).
        axis: whether the query gets an axis for the keys.
        turned: w_q (A, Dq) or w_k -> what stands on the right of the projection.
        inner: (the sum, v) -> what tanh is taken of.
        weighed: how hidden units become a score, a name in _WEIGHED.
        finish: applied to the scores (B, S).

    """

    def scores(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
        stages = {name: activation if name == at else _same for name in ("sum", "each", "score")}
        asked, offered = (stages["each"](x @ turned(w)) for x, w in ((query, w_q), (keys, w_k)))
        asked = query_as(asked)[:, None] if axis else query_as(asked)
        hidden = stages["sum"](inner(join(asked, keys_as(offered)), v))
        return finish(stages["score"](_WEIGHED[weighed](hidden, v)))

    return scores


def _second_first(one: Tensor, other: Tensor) -> Tensor:
    return other + one


def _first_of_batch(asked: Tensor) -> Tensor:
    return asked[:1].expand_as(asked)


def _sum_of_batch(asked: Tensor) -> Tensor:
    return asked.sum(0, keepdim=True).expand_as(asked)


def _read_in_another_shape(w: Tensor) -> Tensor:
    return w.reshape(w.shape[1], w.shape[0])


def _joined_in_another_order(*, keys_first: bool) -> Any:
    """Put query and keys side by side in one order, and their matrices in the other."""

    def scores(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
        pair, matrices = [query[:, None].expand(-1, keys.shape[1], -1), keys], [w_k, w_q]
        if keys_first:
            pair, matrices = pair[::-1], matrices[::-1]
        return torch.tanh(torch.cat(pair, -1) @ torch.cat(matrices, 1).T) @ v

    return scores


def _repeated_and_cut(query: Tensor, keys: Tensor, *weights: Tensor) -> Tensor:
    """Repeat all queries S times, one after another, and cut that into B rows."""
    mixed = query.repeat(keys.shape[1], 1).view(*keys.shape[:2], -1)
    pairs = [
        additive_oracle(mixed[:, s], keys[:, s : s + 1], *weights) for s in range(keys.shape[1])
    ]
    return torch.cat(pairs, 1)


def _one_key_at_a_time(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    scores = [additive_oracle(query, key[:, None], w_q, w_k, v) for key in keys.unbind(1)]
    return torch.cat(scores, 1)


_NO_AXIS = (
    "The query has no axis for the keys, so its B rows are lined up with the S keys.",
    "Write down both shapes, (B, A) and (B, S, A): they are matched from the last axis backwards. "
    "Where does the query need an axis of size one?",
)
_WEIGHTS_ALREADY = (
    "These are weights already: softmax is not part of the score.",
    "Return the plain scores; `attend` does the rest.",
)
_TANH = "Bahdanau's formula uses tanh."
_BOTH_PARTS = "The projected query is added to each projected key, so it needs an axis for S."

HIDDEN = (
    Mistake(
        "no_tanh",
        "Without tanh the query only adds the same number to every score.",
        "The sum of the two projections goes through tanh before v.",
        _additive(activation=_same),
    ),
    Mistake(
        "tanh_on_each_part",
        "tanh is applied to each projection, not to their sum.",
        "Add the two projections first.",
        _additive(at="each"),
    ),
    Mistake(
        "tanh_at_the_end",
        "tanh comes after v, so every score is squeezed between -1 and 1.",
        "tanh belongs to the hidden layer; v comes last and gives plain numbers.",
        _additive(at="score"),
    ),
    *(
        Mistake(
            f"tanh_of_the_{name}_alone",
            f"tanh is applied to the projected {name} alone, and the other projection is added "
            "after it.",
            "Add the two projections first; tanh is applied to their sum.",
            _additive(activation=_same, **choice),
        )
        for name, choice in (
            ("keys", {"keys_as": torch.tanh}),
            ("query", {"query_as": torch.tanh}),
        )
    ),
    *(
        Mistake(
            name,
            f"A {called} is used where the formula has tanh.",
            _TANH,
            _additive(activation=activation),
        )
        for name, called, activation in (
            ("other_activation", "ReLU", torch.relu),
            ("sigmoid", "sigmoid", torch.sigmoid),
        )
    ),
    Mistake(
        "multiplied",
        "The projections are multiplied; additive attention adds them.",
        "Look at the sign between the two projections in the formula.",
        _additive(join=torch.mul),
    ),
    Mistake(
        "subtracted",
        "One projection is subtracted from the other; additive attention adds them.",
        "Look at the sign between the two projections in the formula.",
        _additive(join=torch.sub),
    ),
)
PARTS = (
    Mistake(
        "query_left_out",
        "The scores do not depend on the query.",
        _BOTH_PARTS,
        _additive(query_as=torch.zeros_like),
    ),
    Mistake(
        "keys_left_out",
        "The scores do not depend on the keys, so all keys of a sentence get the same score.",
        "The sum has two parts: one from the query, one from each key.",
        _additive(keys_as=torch.zeros_like),
    ),
    Mistake(
        "one_query_for_all",
        "The query of the first sentence is used for all.",
        "Each sentence of the batch has its own query. An index such as query[0] picks a single "
        "one.",
        _additive(query_as=_first_of_batch),
    ),
    Mistake(
        "queries_of_all_sentences",
        "The queries of all sentences are added up, and every sentence gets that sum.",
        "Row b of the queries belongs to the keys of sentence b: in einsum, the batch needs the "
        "same letter in both, and in the result.",
        _additive(query_as=_sum_of_batch),
    ),
    Mistake(
        "queries_of_other_sentences",
        "The queries are repeated and then cut into rows anew, so keys meet the queries of "
        "other sentences.",
        "A new form cuts numbers as they are stored; unsqueeze and expand keep queries in place.",
        _repeated_and_cut,
    ),
    *(
        Mistake(
            name,
            "Query and keys are joined in one order, and their matrices in the other: entries of "
            f"the {first} meet columns of {columns}.",
            "In the joined matrix, the first columns belong to whatever comes first in the joined "
            "vector.",
            _joined_in_another_order(keys_first=first == "keys"),
        )
        for name, first, columns in (
            ("keys_joined_first", "keys", "w_q"),
            ("query_joined_first", "query", "w_k"),
        )
    ),
    Mistake("no_axis_for_keys", *_NO_AXIS, _additive(axis=False)),
    Mistake("keys_without_axis", *_NO_AXIS, _additive(axis=False, join=_second_first)),
    Mistake(
        "weights_not_transposed",
        "The inner sizes of a product do not fit: w_q is (A, Dq) and w_k is (A, Dk), as nn.Linear "
        "keeps its weight.",
        "A vector of Dq entries meets the rows of w_q. Which way round must the matrix be on the "
        "right of `@`?",
        _additive(turned=_same),
    ),
    Mistake(
        "weights_reshaped",
        "The matrices are reshaped, not transposed, which mixes up their entries.",
        "A new form of the same numbers keeps their order. Which function swaps two axes?",
        _additive(turned=_read_in_another_shape),
    ),
)
_V_INSIDE = "tanh is applied to the sum of the two projections alone. Where is v in the formula?"
SCORES = (
    Mistake(
        "v_added_inside_tanh",
        "v is added inside tanh, as a bias would be, and the hidden units are summed as they are.",
        _V_INSIDE,
        _additive(inner=torch.add, weighed="sum"),
    ),
    Mistake(
        "v_multiplied_inside_tanh",
        "v is multiplied inside tanh, and the hidden units are summed as they are.",
        _V_INSIDE,
        _additive(inner=torch.mul, weighed="sum"),
    ),
    Mistake(
        "loop",
        "Keys, or sentences, are taken one by one: the more there are, the more calls it takes.",
        "An axis of size one in the query lets a single sum reach all keys.",
        _one_key_at_a_time,
    ),
    Mistake(
        "v_left_out",
        "The hidden units are summed with equal weight: v is not used.",
        "v weighs the A hidden units.",
        _additive(weighed="sum"),
    ),
    Mistake(
        "averaged",
        "The weighted hidden units are averaged; the formula adds them up.",
        "A product with v is a sum over A; nothing is divided.",
        _additive(weighed="mean"),
    ),
    Mistake(
        "divided_by_a_root",
        "The scores are divided by the root of A. That belongs to another kind of attention.",
        "Additive attention has tanh to keep its terms small, and no scale.",
        _additive(weighed="root"),
    ),
    Mistake(
        "units_not_summed",
        "The hidden units are weighted but not added up, so the result is (B, S, A).",
        "A key has one score, whatever A is.",
        _additive(weighed="each"),
    ),
    Mistake(
        "already_normalised", *_WEIGHTS_ALREADY, _additive(finish=lambda scores: scores.softmax(-1))
    ),
    Mistake(
        "normalised_over_batch",
        *_WEIGHTS_ALREADY,
        _additive(finish=lambda scores: scores.softmax(0)),
    ),
    Mistake(
        "size_one_axis_left",
        "The result keeps an axis of size one at its end.",
        "A product with v as a column gives (B, S, 1): with v as a plain vector the axis goes "
        "away. Softmax over such an axis would give ones everywhere.",
        _additive(finish=lambda scores: scores[..., None]),
    ),
    Mistake(
        "axis_left_between",
        "The result keeps an axis of size one in its middle: (B, 1, S).",
        "A sentence has one query here, and its S scores are a row of the result.",
        _additive(finish=lambda scores: scores[:, None]),
    ),
    Mistake(
        "scores_reshaped",
        "Scores of shape (S, B) are reshaped to (B, S), not transposed: sentences are mixed up.",
        "A new form of the same numbers keeps their order. Which function swaps two axes?",
        _additive(finish=lambda scores: scores.T.reshape(scores.shape)),
    ),
    Mistake(
        "axes_exchanged",
        "The axes of the result are swapped: it is (S, B).",
        "The batch stays in front.",
        _additive(finish=lambda scores: scores.T),
    ),
)

EXERCISES = by_id(Exercise(PROBES["additive_scores"], additive_oracle, (*HIDDEN, *PARTS, *SCORES)))
