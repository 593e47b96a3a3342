"""MultiHeadAttention: the oracle, laws, and the mistakes that no patch of its body says.

The functions that build mistakes serve lesson 06, whose attention has heads, too.
"""

from collections.abc import Callable
from typing import Any

import torch

from utils.checks.authoring.common_mistakes import no_forward
from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.lessons.attention.answers.mask import query_mask_mistakes
from utils.checks.lessons.attention.answers.rows import padded_queries_closed
from utils.checks.lessons.attention.variants import no_super_init
from utils.checks.lessons.multi_head_attention.probes import PROBES
from utils.checks.observation import Observation
from utils.reference import modules
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


EXERCISES = by_id(
    Exercise(
        PROBES["MultiHeadAttention"],
        TorchHeads,
        (no_forward("MultiHeadAttention", modules.MultiHeadAttention), no_super_init()),
        LAWS,
    )
)
