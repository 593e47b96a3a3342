"""MultiHeadAttention: what is right and commonly wrong."""

from dataclasses import replace
from typing import Any

import torch

from utils.blocks import MultiHeadAttention as TorchHeads
from utils.checks.attention.answers_first import mask_mistakes
from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake
from utils.checks.module_mistakes import no_forward, own_dropout_rate
from utils.checks.multi_head_attention.probes import PROBES
from utils.checks.multi_head_attention.variants import (
    HeadsVariant,
    MaskAlwaysThere,
    MaskOfNumbers,
    MaskPassedOn,
    OneSoftmaxForAll,
    SplitBeforeProjection,
    heads_variant,
    interleaved_split,
    view_merge,
    view_split,
)
from utils.checks.observation import Observation

_PROBE = next(probe for probe in PROBES if probe.exercise == "MultiHeadAttention")


def _has_weights(seen: Observation) -> bool:
    return "weights" in seen.values


def rows_sum_to_one(inputs: Inputs, seen: Observation) -> bool:
    """Each row of each head's weights sums to one, or to zero where nothing is allowed."""
    if not _has_weights(seen):
        return True
    weights = torch.as_tensor(seen.values["weights"])
    mask = inputs["mask"]
    wanted = torch.ones(1) if mask is None else mask.any(-1).float().unsqueeze(1)
    return torch.allclose(weights.sum(-1).float(), wanted.expand(weights.shape[:-1]), atol=1e-4)


def blocked_keys_weigh_nothing(inputs: Inputs, seen: Observation) -> bool:
    """A key under the mask has no weight in any head."""
    if not _has_weights(seen) or inputs["mask"] is None:
        return True
    return not (torch.as_tensor(seen.values["weights"]) * ~inputs["mask"].unsqueeze(1)).any()


def alone_as_in_the_batch(inputs: Inputs, seen: Observation) -> bool:
    """The last sentence gives alone what it gives in the padded batch."""
    if "output of the last sentence alone" not in seen.values:
        return True
    alone = torch.as_tensor(seen.values["output of the last sentence alone"])
    padded = torch.as_tensor(seen.values["output"])[-1:, : alone.shape[1]]
    return torch.allclose(alone, padded, atol=1e-4)


LAWS = (
    Invariant(
        "Each row of weights must sum to one in every head (zero where nothing is allowed).",
        rows_sum_to_one,
    ),
    Invariant("A key under the mask must have weight zero.", blocked_keys_weigh_nothing),
    Invariant("A sentence alone must give what it gives in a padded batch.", alone_as_in_the_batch),
)


def _mistake(name: str, says: str, hint: str, **choices: Any) -> Mistake:
    return Mistake(name, says, hint, heads_variant(**choices))


HEADS = (
    Mistake(
        "split_before_projection",
        "The inputs are cut into heads before they are projected, so a head sees only its slice.",
        "Every head may look at all D features: project first, then cut.",
        SplitBeforeProjection,
    ),
    Mistake(
        "one_softmax_for_all_heads",
        "There is one attention over all features; its weights are the same for every head.",
        "Cut queries, keys and values into heads before they meet: each head has its own scores.",
        OneSoftmaxForAll,
    ),
    _mistake(
        "cut_by_view_alone",
        "The heads are cut by view alone: a head gets all the features of a few tokens.",
        "Call your split_heads rather than cutting here again.",
        split=staticmethod(view_split),
    ),
    _mistake(
        "joined_by_view_alone",
        "The heads are joined by view alone: a row of the output mixes tokens.",
        "Call your merge_heads rather than joining here again.",
        merge=staticmethod(view_merge),
    ),
    _mistake(
        "cut_and_joined_by_view_alone",
        "The heads are cut and joined by view alone, so a head sees a few tokens only.",
        "Call your split_heads and merge_heads rather than reshaping here again.",
        split=staticmethod(view_split),
        merge=staticmethod(view_merge),
    ),
    _mistake(
        "every_other_feature",
        "Head h gets every H-th feature.",
        "Call your split_heads: a head's features lie side by side.",
        split=staticmethod(interleaved_split),
    ),
    _mistake(
        "no_output_projection",
        "The heads are joined and returned as they are: w_o is not used.",
        "Something has to mix what the heads found.",
        projected="qkv",
    ),
    _mistake(
        "values_not_projected",
        "The values are not projected: w_v is not used.",
        "Queries, keys and values each go through their own projection.",
        projected="qko",
    ),
    _mistake(
        "values_from_keys",
        "The values are made from `key`.",
        "forward has three arguments, and each has its own projection.",
        values="key",
    ),
    _mistake(
        "queries_and_keys_swapped",
        "Queries and keys have changed places.",
        "w_q belongs to `query`, which has T rows; the output has T rows too.",
        swapped="qk",
    ),
    *(
        _mistake(
            name,
            "Keys and values have changed places.",
            "Queries are compared with the keys; what is mixed are the values. Follow each from "
            "its argument on.",
            **choices,
        )
        for name, choices in (
            ("keys_and_values_swapped", {"swapped": "kv"}),
            ("key_and_value_swapped", {"keys": "value", "values": "key"}),
        )
    ),
    _mistake(
        "queries_and_keys_not_projected",
        "The scores are made from the inputs themselves: w_q and w_k are not used.",
        "Queries, keys and values each go through their own projection.",
        projected="vo",
    ),
    _mistake(
        "no_bias_at_all",
        "The projections never have a bias.",
        "Pass `bias` on to all four layers.",
        shared_bias=False,
    ),
    _mistake(
        "no_error_for_bad_sizes",
        "A size that cannot be shared out among the heads is accepted.",
        "Look at the remainder of d_model by n_heads, before anything else.",
        checked=False,
    ),
)

SCALING = (
    _mistake(
        "scaled_by_d_model",
        "The scores are divided by sqrt(D); a head's queries and keys have Dh entries.",
        "The scale undoes the spread of a sum. How many terms does it have within one head?",
        scale=staticmethod(lambda d_model, d_head: d_model**-0.5),
    ),
    _mistake(
        "scaled_by_the_number_of_heads",
        "The scores are divided by sqrt(H); a head's queries and keys have Dh entries.",
        "The scale undoes the spread of a sum. How many terms does it have within one head?",
        scale=staticmethod(lambda d_model, d_head: (d_head / d_model) ** 0.5),
    ),
    _mistake(
        "no_scaling",
        "The scores are not divided by sqrt(Dh).",
        "Call your scaled_dot_product_attention rather than writing it again.",
        scale=staticmethod(lambda d_model, d_head: 1.0),
    ),
    _mistake(
        "softmax_over_queries",
        "Softmax runs over the queries: columns sum to one, rows do not.",
        "The keys are the last axis of (B, H, T, S).",
        axis=-2,
    ),
    _mistake(
        "softmax_over_heads",
        "Softmax runs over the heads: they compete with one another.",
        "Each head spreads one unit of attention over the keys, the last axis of (B, H, T, S).",
        axis=1,
    ),
)

_NO_AXIS = (
    "The mask has no axis for heads: its first axis, the batch, meets the heads.",
    "Scores are (B, H, T, S), a mask is (B, T, S) or (B, 1, S). Where is an axis of size one "
    "missing?",
)
MASK_AXIS = (
    Mistake("mask_passed_on_as_it_is", *_NO_AXIS, MaskPassedOn),
    _mistake("mask_without_an_axis_for_heads", *_NO_AXIS, heads_axis=False),
    Mistake(
        "no_mask_not_expected",
        "Without a mask forward stops: None has no axes.",
        "mask is None where the caller gives none. Give it an axis only where there is one.",
        MaskAlwaysThere,
    ),
    *(
        Mistake(
            name,
            "The mask has been turned into numbers.",
            "A mask chooses, and stays boolean all the way. Look for .float() or arithmetic.",
            type("MultiHeadAttention", (MaskOfNumbers,), {"meets": meets}),
        )
        for name, meets in (
            ("mask_of_numbers", "attention"),
            ("mask_of_numbers_negated", "not"),
            ("mask_of_numbers_to_masked_fill", "fill"),
        )
    ),
)

RESULTS = (
    _mistake(
        "weights_averaged",
        "The weights are averaged over the heads.",
        "Return the weights of every head: (B, H, T, S).",
        returned="mean",
    ),
    _mistake(
        "output_only",
        "Only one of the two results comes back.",
        "Return the pair (output, weights).",
        returned="nothing",
    ),
    _mistake(
        "weights_returned_after_dropout",
        "In train mode the returned weights have holes.",
        "Drop out what meets the values; return the weights as they were before.",
        returned="dropped",
    ),
)

DROPOUT = (
    _mistake(
        "no_dropout",
        "Dropout is accepted and then forgotten.",
        "Make an nn.Dropout in __init__ and use it on the weights.",
        dropped="nothing",
    ),
    _mistake(
        "dropout_in_eval_mode",
        "Dropout acts in eval mode too.",
        "nn.Dropout knows the mode; the function F.dropout has to be told (training=...).",
        dropped="always",
    ),
    _mistake(
        "dropout_before_softmax",
        "Dropout acts on the scores: a score of zero is an ordinary score, and nothing is dropped.",
        "A weight of zero means “not looked at”. Which step makes the weights?",
        dropped="scores",
    ),
    _mistake(
        "dropout_on_the_context",
        "Dropout acts on the values or on what the heads found, not on the weights.",
        "It belongs between softmax and the product with the values.",
        dropped="context",
    ),
    _mistake(
        "dropout_on_the_values",
        "Dropout acts on the values, not on the weights.",
        "It belongs between softmax and the product with the values.",
        dropped="values",
    ),
    _mistake(
        "dropout_on_the_output",
        "Dropout acts on the output, not on the weights.",
        "It belongs between softmax and the product with the values.",
        dropped="output",
    ),
    _mistake(
        "dropout_twice",
        "Dropout acts on the weights, and once more after w_o.",
        "One dropout is asked for: between softmax and the product with the values.",
        dropped="twice",
    ),
    _mistake(
        "kept_weights_not_scaled_up",
        "What is kept is not scaled up, so that the output shrinks in train mode.",
        "nn.Dropout(p) multiplies what it keeps by 1 / (1 - p).",
        dropped="unscaled",
    ),
)


def _mask_variant(**choices: Any) -> Any:
    return heads_variant(**choices)


_NOT_HANDED_ON = (
    "Follow `mask`: does it reach scaled_dot_product_attention? If you block scores yourself: "
    "masked_fill returns a new tensor. Is its result used?"
)
# Here the mask is handed on to lesson 02, as a rule, and no masked_fill is in sight.
MASKS = tuple(
    replace(mistake, hint=_NOT_HANDED_ON) if mistake.name == "mask_ignored" else mistake
    for mistake in mask_mistakes(_mask_variant)
)
FORM = (
    no_forward("MultiHeadAttention", HeadsVariant),
    own_dropout_rate(heads_variant(own_rate=0.5)),
)

ATTENTION = Exercise(
    _PROBE,
    TorchHeads,
    (*HEADS, *SCALING, *MASKS, *MASK_AXIS, *RESULTS, *DROPOUT, *FORM),
    LAWS,
)
