"""The encoder layer, and the one with a residual left out: what is right and commonly wrong."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from utils.checks.encoder.probes import PROBES
from utils.checks.encoder.reference import TorchLayer
from utils.checks.encoder.variants import LayerVariant, variant
from utils.checks.exercise import Exercise, Mistake
from utils.checks.module_mistakes import no_forward, own_dropout_rate

_PROBES = {probe.exercise: probe for probe in PROBES}


def _layer(name: str, says: str, hint: str, **choices: Any) -> Mistake:
    return Mistake(name, says, hint, variant(LayerVariant, **choices))


def _as_function(kind: type[Any], **choices: Any) -> Callable[..., Tensor]:
    """A forward pass of this kind of layer on the parts of a given one."""
    made = variant(kind, **choices) if choices else kind

    def run(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
        sizes = layer.feed_forward.linear_1
        own = made(sizes.in_features, layer.self_attention.n_heads, sizes.out_features, 0.0)
        for name in ("self_attention", "feed_forward", "norm_1", "norm_2"):
            setattr(own, name, getattr(layer, name))
        output: Tensor = own(x, mask)
        return output

    return run


def _repair(name: str, says: str, hint: str, **choices: Any) -> Mistake:
    return Mistake(name, says, hint, _as_function(LayerVariant, **choices))


def _norm_before_the_sum(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    x = x + layer.norm_1(layer.self_attention(x, x, x, mask)[0])
    output: Tensor = layer.norm_2(x + layer.feed_forward(x))
    return output


def _input_added_at_the_end(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    found = layer.norm_1(layer.self_attention(x, x, x, mask)[0])
    output: Tensor = layer.norm_2(x + found + layer.feed_forward(found))
    return output


_RESIDUAL_HINT = "Each sub-layer only adds to what it was given."
_DROPOUT_HINT = "Dropout acts on both sub-layers' outputs before they are added."
_PARTS = (  # what is not dropped out, and what still is
    ("sub_layers", "the sub-layers add", ""),
    ("attention", "attention adds", "f"),
    ("feed_forward", "the feed-forward adds", "a"),
)
LAYER = (
    Exercise(
        _PROBES["EncoderLayer"],
        TorchLayer,
        (
            _layer(
                "no_residual_around_attention",
                "The attention's output replaces its input; the residual is missing there.",
                _RESIDUAL_HINT,
                residuals="f",
            ),
            _layer(
                "no_residual_around_feed_forward",
                "The feed-forward's output replaces its input; the residual is missing there.",
                _RESIDUAL_HINT,
                residuals="a",
            ),
            _layer("no_residuals", "Both residuals are missing.", _RESIDUAL_HINT, residuals=""),
            _layer(
                "always_post_norm",
                "norm_first is accepted and then forgotten: the layer always normalises last.",
                "With norm_first, what goes into a sub-layer is normalised, not what comes out.",
                orders=("post", "post"),
            ),
            _layer(
                "always_pre_norm",
                "The layer always normalises first, whatever norm_first says.",
                "Without norm_first the sum of input and sub-layer is normalised.",
                orders=("pre", "pre"),
            ),
            _layer(
                "orders_swapped",
                "The layer normalises first where it should normalise last, and the other way.",
                "norm_first=True is pre-norm: look at your condition.",
                orders=("pre", "post"),
            ),
            _layer(
                "norm_before_the_sum",
                "The sub-layer's output is normalised before it is added.",
                "Post-norm: first the sum, then the norm. Pre-norm: the norm of the input.",
                orders=("inside", "inside"),
            ),
            _layer(
                "norm_before_the_sum_in_post_norm",
                "In post-norm the sub-layer's output is normalised before it is added.",
                "Post-norm: first the sum, then the norm.",
                orders=("inside", "pre"),
            ),
            *(
                _layer(
                    f"second_norm_forgotten{where}",
                    f"{in_which}norm_2 is made and never used.",
                    "Each sub-layer has a norm of its own: compare your two lines.",
                    normed=normed,
                )
                for where, in_which, normed in (
                    ("", "", ("a", "a")),
                    ("_in_post_norm", "In post-norm ", ("a", "af")),
                    ("_in_pre_norm", "In pre-norm ", ("af", "a")),
                )
            ),
            _layer(
                "residual_from_the_normalised_input",
                "In pre-norm the residual carries the normalised input.",
                "The norm is for the sub-layer alone; the residual goes past it untouched.",
                residual_from="normed",
            ),
            *(
                _layer(
                    f"{which}_residual_from_the_normalised_input",
                    f"In pre-norm the {which} residual carries the normalised input.",
                    "The norm is for the sub-layer alone; the residual goes past it untouched.",
                    residual_from="normed",
                    astray=astray,
                )
                for which, astray in (("first", "a"), ("second", "f"))
            ),
            _layer(
                "second_residual_from_the_layers_input",
                "The second residual brings back the layer's input and loses what attention found.",
                "The feed-forward adds to what attention has already added to.",
                residual_from="first",
            ),
            _layer(
                "feed_forward_reads_the_layers_input",
                "The feed-forward reads the layer's input, not the result of attention.",
                "Which tensor holds what attention found? It goes in.",
                feeds="first",
            ),
            _layer(
                "second_norm_reads_the_layers_input",
                "In pre-norm norm_2 reads the layer's input, so the feed-forward never sees what "
                "attention found.",
                "Which tensor holds the sum after attention? It is what norm_2 reads.",
                feeds="first normed",
            ),
            _layer(
                "keys_not_normalised",
                "In pre-norm the queries are normalised, the keys and values are not.",
                "It is self-attention: all three are the same tensor.",
                plain_keys=True,
            ),
            _layer(
                "one_norm_used_twice",
                "One norm serves both sub-layers, so they share gain and bias.",
                "Make two LayerNorm objects.",
                norms="one",
            ),
            _layer(
                "norms_swapped",
                "norm_2 serves attention, and norm_1 the feed-forward.",
                "They are numbered in the order in which x meets them.",
                norms="swapped",
            ),
            _layer(
                "mask_not_passed_on",
                "The mask is accepted and then forgotten.",
                "Pass it on to the attention.",
                mask_as="none",
            ),
            _layer(
                "mask_inverted",
                "The mask is turned round: what may be attended to is blocked.",
                "True means “may be attended to”, here as in MultiHeadAttention. Pass it on as it "
                "is.",
                mask_as="inverted",
            ),
            _layer(
                "sub_layers_not_dropped_out",
                "What the sub-layers add is not dropped out.",
                "Dropout acts on each sub-layer's output before it is added.",
                drops=("", ""),
            ),
            _layer(
                "attention_not_dropped_out",
                "What attention adds is not dropped out.",
                _DROPOUT_HINT,
                drops=("f", "f"),
            ),
            _layer(
                "feed_forward_not_dropped_out",
                "What the feed-forward adds is not dropped out.",
                _DROPOUT_HINT,
                drops=("a", "a"),
            ),
            *(
                _layer(
                    f"{order}_norm_{part}_not_dropped_out",
                    f"In {order}-norm, what {adds} is not dropped out.",
                    "Dropout acts on each sub-layer's output in both orders.",
                    drops=(left, "af") if order == "post" else ("af", left),
                )
                for order in ("post", "pre")
                for part, adds, left in _PARTS
            ),
            _layer(
                "sum_dropped_out",
                "The sum of input and sub-layer is dropped out, so the way past is cut too.",
                "Dropout acts on each sub-layer's output before it is added.",
                dropped=("sum", "sum"),
            ),
            _layer(
                "sum_dropped_out_in_post_norm",
                "In post-norm the sum is dropped out before its norm, so the way past is cut too.",
                "Dropout acts on each sub-layer's output before it is added.",
                dropped=("sum", "found"),
            ),
            _layer(
                "parts_get_no_dropout",
                "Attention and feed-forward are made without dropout.",
                "Both classes take dropout as an argument.",
                hands_on="",
            ),
            _layer(
                "attention_gets_no_dropout",
                "The attention is made without dropout.",
                "MultiHeadAttention takes dropout as an argument.",
                hands_on="f",
            ),
            _layer(
                "feed_forward_gets_no_dropout",
                "The feed-forward is made without dropout.",
                "FeedForward takes dropout as an argument.",
                hands_on="a",
            ),
            no_forward("EncoderLayer", LayerVariant),
            own_dropout_rate(variant(LayerVariant, own_rate=0.5)),
        ),
    ),
    Exercise(
        _PROBES["repaired_layer"],
        _as_function(TorchLayer),
        (
            _repair(
                "still_no_residual_around_attention",
                "It is not repaired yet: one of the two sub-layers still replaces its input.",
                "Compare the two lines that call a norm.",
                residuals="f",
            ),
            _repair(
                "residual_moved",
                "Now the other sub-layer has no residual.",
                "Both sub-layers need one.",
                residuals="a",
            ),
            _repair(
                "residual_from_the_layers_input",
                "The residual brings back the layer's input and loses what attention found.",
                "What goes into the feed-forward is what has to be added to its output.",
                residual_from="first",
            ),
            Mistake(
                "norm_before_the_sum",
                "The residual is there, but the sum is not normalised.",
                "Post-norm: first the sum, then the norm.",
                _norm_before_the_sum,
            ),
            Mistake(
                "input_added_at_the_end",
                "The layer's input is added, but only after the feed-forward.",
                "Attention's own result has to be added to what went into it.",
                _input_added_at_the_end,
            ),
            _repair(
                "mask_lost",
                "The residual is there, but the mask got lost on the way.",
                "Only one thing was broken: keep the rest as it was.",
                mask_as="none",
            ),
        ),
    ),
)
