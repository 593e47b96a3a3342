"""RotaryAttention: right answers and common mistakes."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.answers.comparing import comparing_mistakes
from utils.checks.lessons.attention.answers.mask import mask_mistakes
from utils.checks.lessons.multi_head_attention.answers.attention import (
    LAWS,
    dropout_mistakes,
    mask_use_mistakes,
    result_mistakes,
)
from utils.checks.lessons.multi_head_attention.answers.families import sharing_mistakes
from utils.checks.lessons.multi_head_attention.variants import view_merge, view_split
from utils.checks.lessons.training.probes import PROBES
from utils.checks.lessons.training.rotary_variants import RotaryVariant, rotary_variant
from utils.reference.positions import reference_rotary

# Looked up now, because checks make shortcuts absent from torch while they observe an answer.
_torch_attention = F.scaled_dot_product_attention


class RotaryOracle(RotaryVariant):
    """Attention by torch's own function, between queries and keys turned as complex numbers."""

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Map (B, T, D), twice (B, S, D), (B, T, S) to output (B, T, D), weights (B, H, T, S)."""
        layers: Any = (self.w_q, self.w_k, self.w_v)
        q, k, v = (
            layer(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for layer, x in zip(layers, (query, key, value), strict=True)
        )
        q, k = reference_rotary(q, self.base), reference_rotary(k, self.base)
        allowed = torch.ones(1, 1, 1, k.shape[2], dtype=torch.bool)
        allowed = allowed if mask is None else mask.unsqueeze(1)
        empty = ~allowed.any(-1, keepdim=True)  # torch gives NaN there in some versions
        each = torch.eye(k.shape[2], dtype=k.dtype).expand(*k.shape[:2], -1, -1)
        weights = _torch_attention(q, k, each, allowed | empty).masked_fill(empty, 0.0)
        found = F.dropout(weights, self.p, self.training) @ v
        joined: Any = found.transpose(1, 2).flatten(2)
        return self._layer("o", joined), weights


TURNING = (
    Mistake(
        "nothing_turned",
        "Nothing is turned, or all words of a head are turned by the same angle, which comes to "
        "the same thing: this is attention without positions.",
        "rotary_embedding takes (B, H, T, Dh), with the positions last but one, and returns a new "
        "tensor. Do q and k go through it in this form, and do you use what it returns?",
        rotary_variant(turned=""),
    ),
    Mistake(
        "keys_not_turned",
        "The queries are turned, but the keys are not: a score then depends on the query's "
        "position, not on how far apart the two words are.",
        "Both sides of the product turn, each by its own position; their difference is left.",
        rotary_variant(turned="q"),
    ),
    Mistake(
        "queries_not_turned",
        "The keys are turned, but the queries are not: a score then depends on the key's "
        "position, not on how far apart the two words are.",
        "Both sides of the product turn, each by its own position; their difference is left.",
        rotary_variant(turned="k"),
    ),
    Mistake(
        "values_turned_too",
        "The values are turned as well.",
        "Positions belong in the scores. What a word passes on is the same wherever it is.",
        rotary_variant(turned="qkv"),
    ),
    Mistake(
        "values_turned_for_keys",
        "The values are turned, but the keys are not.",
        "Positions belong in the scores: which two meet there?",
        rotary_variant(turned="qv"),
    ),
    Mistake(
        "only_values_turned",
        "The values alone are turned.",
        "Positions belong in the scores: which two meet there?",
        rotary_variant(turned="v"),
    ),
    Mistake(
        "turned_before_the_split",
        "Queries and keys are turned before they are cut into heads: the angles are spread over "
        "all D columns, so each head gets different ones.",
        "Cut first, then turn: every head has Dh columns, and the same angles.",
        rotary_variant(place="features"),
    ),
    Mistake(
        "inputs_turned",
        "The inputs of w_q and w_k are turned; it should be their outputs.",
        "A rotation before a linear layer is mixed up by it: the difference of positions is lost.",
        rotary_variant(place="inputs"),
    ),
    Mistake(
        "inputs_turned_in_heads",
        "The inputs of w_q and w_k are cut into heads and turned; it should be their outputs.",
        "A rotation before a linear layer is mixed up by it: the difference of positions is lost.",
        rotary_variant(place="inputs, in heads"),
    ),
    Mistake(
        "inputs_of_all_three_turned",
        "The inputs are turned, before all three projections.",
        "Turn queries and keys, after their projections and the cut into heads.",
        rotary_variant(place="inputs", turned="qkv"),
    ),
    Mistake(
        "base_ignored",
        "The base is accepted and then forgotten.",
        "rotary_embedding(x, base): pass self.base on, for queries and keys.",
        rotary_variant(own_base=10000.0),
    ),
    Mistake(
        "turned_twice",
        "Queries and keys are turned twice, by twice the angle.",
        "Once is enough. Is rotary_embedding called in two places, or again and again?",
        rotary_variant(times=2),
    ),
    Mistake(
        "keys_counted_on",
        "The keys are counted on where the queries end.",
        "The first query and the first key both stand at position 0.",
        rotary_variant(on_end=True),
    ),
    Mistake(
        "keys_turned_backwards",
        "The keys are turned the other way round: a score depends on the sum of the two positions.",
        "Turn both the same way; the product takes the difference by itself.",
        rotary_variant(back="k"),
    ),
    Mistake(
        "columns_paired_by_halves",
        "Column i is turned together with column i + Dh/2.",
        "Many libraries do that, and it works too, but lesson 04 pairs neighbours. Call its "
        "rotary_embedding rather than writing it again.",
        rotary_variant(paired="halves"),
    ),
    Mistake(
        "angles_over_all_heads",
        "The angles are those of D columns, but a head has Dh.",
        "In base^(-2i/Dh), Dh is the width of one head. Call rotary_embedding on (B, H, T, Dh).",
        rotary_variant(spread="all"),
    ),
    Mistake(
        "queries_counted_from_another_place",
        "Where there are more keys than queries, the queries' positions do not begin at 0.",
        "The first query and the first key are both at position 0.",
        rotary_variant(ends=True),
    ),
)

ATTENTION = (
    Mistake(
        "scaled_by_d_model",
        "The scores are divided by sqrt(D); a head's queries and keys have Dh entries.",
        "The scale undoes the spread of a sum. How many terms does it have within one head?",
        rotary_variant(scale=staticmethod(lambda d_model, d_head: d_model**-0.5)),
    ),
    Mistake(
        "no_scaling",
        "The scores are not divided by sqrt(Dh).",
        "Call your scaled_dot_product_attention rather than writing it again.",
        rotary_variant(scale=staticmethod(lambda d_model, d_head: 1.0)),
    ),
    Mistake(
        "scaled_twice",
        "The scores are divided by sqrt(Dh) twice, that is, by Dh.",
        "scaled_dot_product_attention scales by itself: give it queries and keys as they are.",
        rotary_variant(scale=staticmethod(lambda d_model, d_head: 1 / d_head)),
    ),
    Mistake(
        "divided_by_eight",
        "The scores are divided by 8, whatever Dh is.",
        "Call your scaled_dot_product_attention rather than writing it again.",
        rotary_variant(scale=staticmethod(lambda d_model, d_head: 1 / 8)),
    ),
    Mistake(
        "softmax_over_queries",
        "Softmax runs over the queries: columns sum to one, rows do not.",
        "The keys are the last axis of (B, H, T, S).",
        rotary_variant(axis=-2),
    ),
    Mistake(
        "split_by_view",
        "The heads are cut without swapping axes, which mixes the words.",
        "First (B, T, H, Dh), then swap axes 1 and 2.",
        rotary_variant(split=staticmethod(view_split)),
    ),
    Mistake(
        "merged_without_transpose",
        "The heads are joined without swapping the axes back.",
        "(B, H, T, Dh): first swap axes 1 and 2, then join the last two.",
        rotary_variant(merge=staticmethod(view_merge)),
    ),
    Mistake(
        "cut_and_joined_by_view",
        "Heads are cut and joined without swapping axes: a head holds whole words, not a part "
        "of each.",
        "(B, T, D) -> (B, T, H, Dh), then swap axes 1 and 2; swap them back before you join.",
        rotary_variant(split=staticmethod(view_split), merge=staticmethod(view_merge)),
    ),
    Mistake(
        "no_output_projection",
        "w_o is made but not used.",
        "The joined heads go through w_o last.",
        rotary_variant(projected="qkv"),
    ),
    Mistake(
        "keys_from_the_query",
        "The keys are made from the query's words.",
        "Three arguments come in: w_k takes the second one.",
        rotary_variant(keys="query"),
    ),
    Mistake(
        "keys_and_values_from_the_query",
        "Keys and values are made from the query's words: a sentence sees only itself.",
        "Three arguments come in: w_q takes the first, w_k the second, w_v the third.",
        rotary_variant(keys="query", values="query"),
    ),
    Mistake(
        "values_from_the_key",
        "The values are made from the key's words.",
        "Three arguments come in: w_v takes the third one.",
        rotary_variant(values="key"),
    ),
    Mistake(
        "queries_and_keys_swapped",
        "Queries and keys are swapped.",
        "The rows of the scores are queries, the columns keys.",
        rotary_variant(swapped=True),
    ),
    Mistake(
        "mask_without_an_axis_for_heads",
        "The mask has no axis for heads: its first axis, the batch, is lined up with the heads.",
        "Scores are (B, H, T, S), a mask is (B, T, S) or (B, 1, S). Where is an axis of size one "
        "missing?",
        rotary_variant(placed="none"),
    ),
    Mistake(
        "mask_with_two_axes_too_many",
        "The mask gets two new axes, so its batch is no longer lined up with that of the scores.",
        "Scores are (B, H, T, S), a mask is (B, T, S) or (B, 1, S): one axis is missing, that of "
        "the heads.",
        rotary_variant(placed="two"),
    ),
    *mask_mistakes(rotary_variant),
    *mask_use_mistakes(rotary_variant),
)

ROTARY = Exercise(
    PROBES["RotaryAttention"],
    RotaryOracle,
    (
        *TURNING,
        *ATTENTION,
        *comparing_mistakes(rotary_variant),
        *sharing_mistakes(rotary_variant),
        *result_mistakes(rotary_variant),
        *dropout_mistakes(rotary_variant),
    ),
    LAWS,
    tolerance=1e-4,  # as of rotary_embedding: its angles may be in float32
)

EXERCISES = by_id(ROTARY)
