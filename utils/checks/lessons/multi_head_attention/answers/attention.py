"""MultiHeadAttention: right answers and common mistakes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from utils.checks.authoring.common_mistakes import dropout_by_default, own_dropout_rate
from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.lessons.attention.answers.comparing import comparing_mistakes
from utils.checks.lessons.attention.answers.mask import mask_mistakes, query_mask_mistakes
from utils.checks.lessons.attention.answers.rows import padded_queries_closed
from utils.checks.lessons.multi_head_attention.answers.families import sharing_mistakes
from utils.checks.lessons.multi_head_attention.answers.layers import FORM, HEADS, LAYERS
from utils.checks.lessons.multi_head_attention.answers.scores import SCALING
from utils.checks.lessons.multi_head_attention.probes import PROBES
from utils.checks.lessons.multi_head_attention.variants import (
    MaskAlwaysThere,
    MaskOfNumbers,
    MaskPassedOn,
    heads_variant,
)
from utils.checks.observation import Observation
from utils.reference.torch_heads import TorchHeads


def _has_weights(seen: Observation) -> bool:
    return "weights" in seen.values


def rows_sum_to_one(inputs: Inputs, seen: Observation) -> bool:
    """Check that each row of weights sums to one in each head, or to zero if nothing is allowed."""
    if not _has_weights(seen):
        return True
    weights = torch.as_tensor(seen.values["weights"])
    mask = inputs["mask"]
    wanted = torch.ones(1) if mask is None else mask.any(-1).float().unsqueeze(1)
    return torch.allclose(weights.sum(-1).float(), wanted.expand(weights.shape[:-1]), atol=1e-4)


def blocked_keys_weigh_nothing(inputs: Inputs, seen: Observation) -> bool:
    """Check that keys under the mask have no weight in any head."""
    if not _has_weights(seen) or inputs["mask"] is None:
        return True
    return not (torch.as_tensor(seen.values["weights"]) * ~inputs["mask"].unsqueeze(1)).any()


def alone_as_in_the_batch(inputs: Inputs, seen: Observation) -> bool:
    """Check that the last sentence gives the same alone as in the padded batch."""
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
    Invariant("A sentence must give the same alone as in a padded batch.", alone_as_in_the_batch),
)


_NO_AXIS = (
    "The mask has no axis for heads, or has it in front: its batch is lined up with the heads.",
    "Scores are (B, H, T, S), a mask is (B, T, S) or (B, 1, S). Where is an axis of size one "
    "missing?",
)
MASK_AXIS = (
    Mistake("mask_passed_on_as_it_is", *_NO_AXIS, MaskPassedOn),
    Mistake(
        "mask_without_an_axis_for_heads",
        *_NO_AXIS,
        heads_variant(placed="none"),
    ),
    Mistake(
        "mask_with_two_axes_too_many",
        "The mask gets two new axes, so its batch is no longer lined up with that of the scores.",
        "Scores are (B, H, T, S), a mask is (B, T, S) or (B, 1, S): one axis is missing, that of "
        "the heads.",
        heads_variant(placed="two"),
    ),
    Mistake(
        "mask_stretched_without_an_axis_for_heads",
        *_NO_AXIS,
        heads_variant(placed="stretched"),
    ),
    Mistake(
        "axis_for_heads_behind_the_queries",
        "The mask's axis for heads comes after the queries: (B, T, 1, S).",
        "Write the axes of scores and mask under each other: heads come second.",
        heads_variant(placed="behind"),
    ),
    Mistake(
        "mask_viewed_for_every_query",
        "The mask is reshaped as if it had a row for every query of every sentence.",
        "It can be (B, 1, S) or (1, T, S), too: insert an axis of size one, and leave the rest to "
        "broadcasting.",
        heads_variant(placed="viewed"),
    ),
    Mistake(
        "no_mask_not_expected",
        "Without a mask forward fails: None has no axes.",
        "mask is None when the caller passes none. Give it an axis only when there is one.",
        MaskAlwaysThere,
    ),
    *(
        Mistake(
            name,
            "The mask has been turned into numbers.",
            "A mask selects, and stays boolean all the way. Look for .float() or arithmetic.",
            type("MultiHeadAttention", (MaskOfNumbers,), {"meets": meets}),
        )
        for name, meets in (
            ("mask_of_numbers", "attention"),
            ("mask_of_numbers_negated", "not"),
            ("mask_of_numbers_to_masked_fill", "fill"),
        )
    ),
)


def result_mistakes(variant: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes in what comes back, made with a builder of variants."""
    return (
        Mistake(
            "weights_averaged",
            "The weights are averaged over the heads.",
            "Return the weights of every head: (B, H, T, S).",
            variant(returned="mean"),
        ),
        Mistake(
            "heads_behind_the_queries",
            "The returned weights are (B, T, H, S): queries and heads are swapped.",
            "Return the weights as the heads make them, before anything is joined: (B, H, T, S).",
            variant(returned="turned"),
        ),
        Mistake(
            "weights_returned_after_dropout",
            "In train mode some of the returned weights are zero: dropout has acted on them.",
            "Use the weights after dropout on the values, but return the weights from before it.",
            variant(returned="dropped"),
        ),
        *(
            Mistake(name, message, "Return the pair (output, weights).", variant(results=results))
            for name, message, results in (
                ("output_only", "Only one of the two results is returned, the output.", "output"),
                (
                    "weights_only",
                    "Only one of the two results is returned, the weights.",
                    "weights",
                ),
                ("swapped_results", "The two results are returned in the wrong order.", "swapped"),
                (
                    "scores_returned",
                    "The second result is the scores; it should be the weights.",
                    "scores",
                ),
            )
        ),
    )


def _dropped_twice(variant: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes of two dropouts where one is asked for."""
    return (
        Mistake(
            "dropout_twice",
            "Dropout acts on the weights, and again after w_o.",
            "One dropout is asked for: between softmax and the product with the values.",
            variant(dropped="twice"),
        ),
        Mistake(
            "dropout_on_weights_and_context",
            "Dropout acts on the weights, and again on what the heads found.",
            "One dropout is asked for: between softmax and the product with the values.",
            variant(dropped="inside"),
        ),
    )


def _dropped_before_softmax(variant: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes of a dropout that acts on scores, be they those of the weights or not."""
    return (
        Mistake(
            "dropout_before_softmax",
            "Dropout acts on the scores: a score of zero is an ordinary score, and nothing is "
            "dropped.",
            "A weight of zero means “not looked at”. Which step makes the weights?",
            variant(dropped="scores"),
        ),
        Mistake(
            "dropout_before_a_softmax_apart",
            "The weights that are applied to the values come from scores after dropout: a score "
            "of zero is an ordinary score, and no weight is dropped.",
            "A weight of zero means “not looked at”. Which step makes the weights?",
            variant(dropped="apart"),
        ),
    )


def dropout_mistakes(variant: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes with dropout, made with a builder of variants."""
    return (
        Mistake(
            "no_dropout",
            "Dropout is accepted and then forgotten.",
            "Make an nn.Dropout in __init__ and use it on the weights.",
            variant(dropped="nothing"),
        ),
        Mistake(
            "dropout_in_eval_mode",
            "Dropout acts in eval mode too.",
            "nn.Dropout knows the mode; the function F.dropout has to be told (training=...).",
            variant(dropped="always"),
        ),
        Mistake(
            "dropout_in_eval_mode_alone",
            "Dropout acts in eval mode, and in train mode it does not: the wrong way round.",
            "F.dropout(x, p, training=...) expects True while the module trains: self.training.",
            variant(dropped="calm"),
        ),
        *_dropped_before_softmax(variant),
        Mistake(
            "dropout_on_the_queries",
            "Dropout acts on the queries, so the weights themselves change in train mode.",
            "It belongs between softmax and the product with the values.",
            variant(dropped="queries"),
        ),
        Mistake(
            "dropout_on_the_context",
            "Dropout acts on the values or on what the heads found, not on the weights.",
            "It belongs between softmax and the product with the values.",
            variant(dropped="context"),
        ),
        Mistake(
            "dropout_on_the_values",
            "Dropout acts on the values, not on the weights.",
            "It belongs between softmax and the product with the values.",
            variant(dropped="values"),
        ),
        Mistake(
            "dropout_on_the_output",
            "Dropout acts on the output, not on the weights.",
            "It belongs between softmax and the product with the values.",
            variant(dropped="output"),
        ),
        *_dropped_twice(variant),
        Mistake(
            "kept_weights_not_scaled_up",
            "What is kept is not scaled up, so the output shrinks in train mode.",
            "nn.Dropout(p) multiplies what it keeps by 1 / (1 - p).",
            variant(dropped="unscaled"),
        ),
        Mistake(
            "dropout_taken_for_what_stays",
            "`dropout` is taken for the share of the weights that stays.",
            "In torch p is the share that is set to zero: nn.Dropout(dropout).",
            variant(dropped="kept"),
        ),
    )


_NOT_HANDED_ON = (
    "Follow `mask`: does it reach scaled_dot_product_attention? If you block scores yourself: "
    "masked_fill returns a new tensor. Is its result used?"
)
# Here the mask usually goes on to the attention of lesson 02, with no masked_fill in sight.
_OTHERWISE = {
    "mask_ignored": {"hint": _NOT_HANDED_ON},
    "no_mask_not_expected": {"name": "no_mask_to_negate"},
}
MASKS = tuple(
    replace(mistake, **_OTHERWISE.get(mistake.name, {})) for mistake in mask_mistakes(heads_variant)
)


def mask_use_mistakes(variant: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return what goes wrong between heads and mask, for an attention of any kind with heads."""
    return (
        Mistake(
            "mask_of_another_sentence",
            "The copies of the mask are in a different order from the heads, so heads get the "
            "mask of another sentence.",
            "Which comes first where batch and heads share an axis: b * H + h, or h * B + b? That "
            "is the difference between repeat and repeat_interleave. An axis of size one needs no "
            "copies.",
            variant(placed="repeated"),
        ),
        *query_mask_mistakes(variant)[:1],
        padded_queries_closed(variant),
        Mistake(
            "empty_rows_cleared",
            "The output of a row with nothing allowed is set to zero after w_o.",
            "Its weights are zero, so the heads find zero: what does w_o make of that?",
            variant(clears_empty=True),
        ),
    )


ATTENTION = Exercise(
    PROBES["MultiHeadAttention"],
    TorchHeads,
    (
        *SCALING,
        *comparing_mistakes(heads_variant),
        *sharing_mistakes(heads_variant),
        *result_mistakes(heads_variant),
        *LAYERS,
        *HEADS,
        *MASKS,
        *MASK_AXIS,
        *mask_use_mistakes(heads_variant),
        Mistake(
            "mask_of_an_earlier_call",
            "A call without a mask gets the mask of an earlier call.",
            "Keep the mask in a plain variable of forward, not in self: then it ends with the "
            "call.",
            heads_variant(keeps_mask=True),
        ),
        *dropout_mistakes(heads_variant),
        *FORM,
        own_dropout_rate(heads_variant(own_rate=0.5)),
        dropout_by_default(heads_variant(default_rate=0.1)),
    ),
    LAWS,
)

EXERCISES = by_id(ATTENTION)
