"""Multiplicative attention: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.probes import PROBES

Change = Callable[[Tensor], Tensor]
_MET: dict[str, Callable[[Tensor, Tensor], Tensor]] = {  # (B, Dk) and (B, S, Dk) -> (B, S)
    "each key": lambda asked, keys: (keys @ asked[..., None])[..., 0],
    "no axis": lambda asked, keys: asked @ keys.transpose(1, 2),
    "no axis, entry by entry": lambda asked, keys: (asked * keys).sum(-1),
    "keys reshaped": lambda asked, keys: (asked[:, None] @ keys.reshape(_turned(keys)))[:, 0],
    "not summed": lambda asked, keys: asked[:, None] * keys,
    "mean": lambda asked, keys: (asked[:, None] * keys).mean(-1),
    "axis kept": lambda asked, keys: keys @ asked[..., None],
    "row kept": lambda asked, keys: asked[:, None] @ keys.transpose(1, 2),
    "over keys": lambda asked, keys: (asked[:, None] * keys).sum(1),
    "first query": lambda asked, keys: keys @ asked[0],
    "all keys": lambda asked, keys: asked @ keys.sum(0).T,
    "all queries": lambda asked, keys: keys @ asked.sum(0),
}


def _turned(keys: Tensor) -> tuple[int, int, int]:
    size, length, width = keys.shape
    return size, width, length


def _same(x: Tensor) -> Tensor:
    return x


def multiplicative_oracle(query: Tensor, keys: Tensor, w: Tensor) -> Tensor:
    """Apply torch's bilinear layer to each pair of query and key."""
    pairs = query[:, None].expand(-1, keys.shape[1], -1).contiguous()
    return F.bilinear(pairs, keys, w[None])[..., 0]


@by_choices
def _multiplicative(
    *,
    of_w: Change = _same,
    met: str = "each key",
    finish: Change = _same,
    projected: Change = _same,
) -> Any:
    """Build multiplicative scores with the given choices.

    Args:
        of_w: what is taken of the matrix.
        met: how the projected query meets the keys, a name in _MET.
        finish: applied to the scores.
        projected: applied to the projected query.

    """

    def scores(query: Tensor, keys: Tensor, w: Tensor) -> Tensor:
        return finish(_MET[met](projected(query @ of_w(w)), keys))

    return scores


def _tanh_of_the_keys(query: Tensor, keys: Tensor, w: Tensor) -> Tensor:
    return _MET["each key"](query, torch.tanh(keys @ w.T))


def _weighed_by_w_where_it_must(query: Tensor, keys: Tensor, w: Tensor) -> Tensor:
    if query.shape[-1] == keys.shape[-1]:
        return _MET["each key"](query, keys)
    return multiplicative_oracle(query, keys, w)


def _without_w(met: Callable[[Tensor, Tensor], Tensor]) -> Any:
    return lambda query, keys, w: met(query, keys)


def _summed_products(query: Tensor, keys: Tensor) -> Tensor:
    return (query[:, None] * keys).sum(-1)


def _mean_over_the_query(query: Tensor, keys: Tensor, w: Tensor) -> Tensor:
    return _MET["mean"](query, keys @ w.T)


def _cosines_with_the_query(query: Tensor, keys: Tensor, w: Tensor) -> Tensor:
    return F.cosine_similarity(query[:, None], keys @ w.T, dim=-1)


def _cosines_with_the_keys(query: Tensor, keys: Tensor, w: Tensor) -> Tensor:
    return F.cosine_similarity((query @ w)[:, None], keys, dim=-1)


_AVERAGED = (
    "The products are averaged. A dot product adds them.",
    "The formula divides by nothing.",
)
_COSINES = (
    "The score is a cosine: query and key are divided by their lengths.",
    "Luong's general score is two matrix products and nothing else.",
)
_NOT_USED = (
    "w has no effect: query and key are multiplied as they are.",
    "The query goes through w first.",
)
_LEFT_OUT = (
    "w is left out where query and key have the same number of entries.",
    "The query goes through w first, whatever the sizes are: w says which entry of a query meets "
    "which entry of a key.",
)
_NO_SOFTMAX = "Return the plain scores; `attend` does the rest."
MISTAKES = tuple(
    Mistake(name, message, hint, _multiplicative(**choices))
    for name, choices, message, hint in (
        (
            "matrix_transposed",
            {"of_w": lambda w: w.T},
            "The query meets the wrong side of w: its Dq entries belong to w's rows.",
            "w is (Dq, Dk). Which of `query @ w` and `query @ w.T` fits?",
        ),
        (
            "w_read_in_another_shape",
            {"of_w": lambda w: w.reshape(w.shape[1], w.shape[0]).T},
            "w is reshaped, not transposed, which mixes up its entries.",
            "A new form of the same numbers keeps their order. Which function swaps two axes?",
        ),
        (
            "batch_meets_batch",
            {"met": "no axis"},
            "The queries of all sentences meet the keys of each: the query has no axis for the "
            "keys.",
            "Give the projected query an axis of size one, and remove it at the end.",
        ),
        (
            "rows_meet_keys",
            {"met": "no axis, entry by entry"},
            "The query has no axis for the keys, so its B rows are lined up with the S keys.",
            "Write down both shapes, (B, Dk) and (B, S, Dk): they are matched from the last axis "
            "backwards. Where does the query need an axis of size one?",
        ),
        (
            "keys_reshaped",
            {"met": "keys reshaped"},
            "The keys are reshaped, not transposed, which mixes up their entries.",
            "A new form of the same numbers keeps their order. Which function swaps two axes?",
        ),
        (
            "first_query_for_all",
            {"met": "first query"},
            "The first sentence's query is used for all sentences.",
            "Row b of the queries belongs to the keys of sentence b.",
        ),
        (
            "queries_of_all_sentences",
            {"met": "all queries"},
            "The queries of all sentences are added up before they meet the keys.",
            "Row b of the queries belongs to the keys of sentence b.",
        ),
        (
            "keys_of_all_sentences",
            {"met": "all keys"},
            "The keys of all sentences are added up before they meet the query.",
            "Row b of the queries belongs to the keys of sentence b: in einsum, the batch needs "
            "the same letter in both, and in the result.",
        ),
        (
            "not_summed",
            {"met": "not summed"},
            "Query and key are multiplied entry by entry but not added up, so the result is (B, "
            "S, Dk).",
            "A score is one number for each key.",
        ),
        (
            "mean_in_place_of_the_sum",
            {"met": "mean"},
            *_AVERAGED,
        ),
        (
            "summed_over_keys",
            {"met": "over keys"},
            "The sum runs over the keys, so no key has a score of its own.",
            "A score is one number for each key: the features are summed.",
        ),
        (
            "axis_kept",
            {"met": "axis kept"},
            "The scores keep an axis of size one at the end: (B, S, 1).",
            "You added that axis for the product. Where do you remove it again?",
        ),
        (
            "row_kept",
            {"met": "row kept"},
            "The scores keep an axis of size one for the query: (B, 1, S).",
            "You added that axis for the product. Where do you remove it again?",
        ),
        (
            "softmax_taken",
            {"finish": lambda scores: scores.softmax(-1)},
            "These are weights already: softmax is not part of the score.",
            _NO_SOFTMAX,
        ),
        (
            "tanh_of_the_score",
            {"finish": torch.tanh},
            "tanh is applied to the scores. It belongs to additive attention.",
            _NO_SOFTMAX,
        ),
        (
            "tanh_of_the_query",
            {"projected": torch.tanh},
            "tanh is applied to the projected query. It belongs to additive attention.",
            "Luong's general score is two matrix products and nothing else.",
        ),
        (
            "divided_by_the_root",
            {"projected": lambda asked: asked / asked.shape[-1] ** 0.5},
            "The score is divided by a root. That comes in the next section; Luong has no such "
            "factor.",
            "Luong's general score is two matrix products and nothing else.",
        ),
        (
            "matrix_left_out",
            {"of_w": lambda w: torch.eye(*w.shape, dtype=w.dtype)},
            *_NOT_USED,
        ),
    )
)
TANH_OF_THE_KEYS = Mistake(
    "tanh_of_the_keys",
    "tanh is applied to the projected keys. It belongs to additive attention.",
    "Luong's general score is two matrix products and nothing else.",
    _tanh_of_the_keys,
)

OTHERS = (
    TANH_OF_THE_KEYS,
    Mistake("matrix_left_out_where_it_can_be", *_LEFT_OUT, _weighed_by_w_where_it_must),
    Mistake("matrix_not_used", *_NOT_USED, _without_w(_MET["each key"])),
    Mistake("matrix_not_used_entry_by_entry", *_NOT_USED, _without_w(_summed_products)),
    Mistake("mean_over_the_query", *_AVERAGED, _mean_over_the_query),
    Mistake("cosines_with_the_query", *_COSINES, _cosines_with_the_query),
    Mistake("cosines_with_the_keys", *_COSINES, _cosines_with_the_keys),
)

EXERCISES = by_id(
    Exercise(PROBES["multiplicative_scores"], multiplicative_oracle, (*MISTAKES, *OTHERS)),
)
