"""The encoder layer: right answers and common mistakes."""

from utils.checks.authoring.common_mistakes import (
    keep_module,
    no_forward,
    no_set_up,
    own_dropout_rate,
)
from utils.checks.authoring.dropping import the_rest
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.answers.normed_sums import NORMED_SUMS
from utils.checks.lessons.encoder.part_variants import variant
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.reference import TorchLayer
from utils.checks.lessons.encoder.variants import LayerVariant

_RESIDUAL_HINT = "Each sub-layer only adds to what it was given."
_DROPOUT_HINT = "Dropout acts on both sub-layers' outputs before they are added."
_PARTS = (  # what is not dropped out, and what still is
    ("sub_layers", "the sub-layers add", ""),
    ("attention", "attention adds", "f"),
    ("feed_forward", "the feed-forward adds", "a"),
)
EXERCISES = by_id(
    Exercise(
        PROBES["EncoderLayer"],
        TorchLayer,
        (
            Mistake(
                "no_residual_around_attention",
                "The attention's output replaces its input; the residual is missing there.",
                _RESIDUAL_HINT,
                variant(LayerVariant, residuals="f"),
            ),
            Mistake(
                "no_residual_around_feed_forward",
                "The feed-forward's output replaces its input; the residual is missing there.",
                _RESIDUAL_HINT,
                variant(LayerVariant, residuals="a"),
            ),
            Mistake(
                "no_residuals",
                "Both residuals are missing.",
                _RESIDUAL_HINT,
                variant(LayerVariant, residuals=""),
            ),
            *(
                Mistake(
                    f"residual_added_twice{name}",
                    f"The input of {said} is added twice: once more after the sum.",
                    "What goes into a sub-layer is added to its output once, and to nothing else.",
                    variant(LayerVariant, added_again=which),
                )
                for name, said, which in (
                    ("", "each sub-layer", "af"),
                    ("_around_attention", "attention", "a"),
                    ("_around_feed_forward", "the feed-forward", "f"),
                )
            ),
            Mistake(
                "always_post_norm",
                "norm_first is accepted and then forgotten: the layer always normalises last.",
                "With norm_first, what goes into a sub-layer is normalised, not what comes out.",
                variant(LayerVariant, orders=("post", "post")),
            ),
            Mistake(
                "always_pre_norm",
                "The layer always normalises first, whatever norm_first says.",
                "Without norm_first the sum of input and sub-layer is normalised.",
                variant(LayerVariant, orders=("pre", "pre")),
            ),
            Mistake(
                "orders_swapped",
                "The layer normalises first where it should normalise last, and the other way "
                "round.",
                "norm_first=True is pre-norm: look at your condition.",
                variant(LayerVariant, orders=("pre", "post")),
            ),
            Mistake(
                "norm_before_the_sum",
                "The sub-layer's output is normalised before it is added.",
                "Post-norm: first the sum, then the norm. Pre-norm: the norm of the input.",
                variant(LayerVariant, orders=("inside", "inside")),
            ),
            Mistake(
                "norm_before_the_sum_in_post_norm",
                "In post-norm the sub-layer's output is normalised before it is added.",
                "Post-norm: first the sum, then the norm.",
                variant(LayerVariant, orders=("inside", "pre")),
            ),
            *NORMED_SUMS,
            *(
                Mistake(
                    f"second_norm_forgotten{where}",
                    f"{in_which}norm_2 is made but never used.",
                    "Each sub-layer has a norm of its own: compare your two lines.",
                    variant(LayerVariant, normed=normed),
                )
                for where, in_which, normed in (
                    ("", "", ("a", "a")),
                    ("_in_post_norm", "In post-norm ", ("a", "af")),
                    ("_in_pre_norm", "In pre-norm ", ("af", "a")),
                )
            ),
            Mistake(
                "second_norm_after_the_sum_in_pre_norm",
                "In pre-norm norm_2 comes after the second sum, as in post-norm, so the "
                "feed-forward reads something that is not normalised.",
                "With norm_first, norm_2 acts on what goes into the feed-forward.",
                variant(LayerVariant, normed=("af", "a"), last_norm=True),
            ),
            Mistake(
                "residual_from_the_normalised_input",
                "In pre-norm the residual carries the normalised input.",
                "The norm is for the sub-layer alone; the residual goes past it untouched.",
                variant(LayerVariant, residual_from="normed"),
            ),
            *(
                Mistake(
                    f"{which}_residual_from_the_normalised_input",
                    f"In pre-norm the {which} residual carries the normalised input.",
                    "The norm is for the sub-layer alone; the residual goes past it untouched.",
                    variant(LayerVariant, residual_from="normed", astray=astray),
                )
                for which, astray in (("first", "a"), ("second", "f"))
            ),
            Mistake(
                "second_residual_from_the_layers_input",
                "The second residual brings back the layer's input: what attention found reaches "
                "the output through the feed-forward alone.",
                "The feed-forward adds to what attention has already added to.",
                variant(LayerVariant, residual_from="first"),
            ),
            Mistake(
                "feed_forward_reads_the_layers_input",
                "The feed-forward reads the layer's input, not the result of attention.",
                "Which tensor holds what attention found? That one goes in.",
                variant(LayerVariant, feeds="first"),
            ),
            Mistake(
                "second_norm_reads_the_layers_input",
                "In pre-norm norm_2 reads the layer's input, so the feed-forward never sees what "
                "attention found.",
                "Which tensor holds the sum after attention? It is what norm_2 reads.",
                variant(LayerVariant, feeds="first normed"),
            ),
            Mistake(
                "keys_not_normalised",
                "In pre-norm the queries are normalised, the keys and values are not.",
                "It is self-attention: all three are the same tensor.",
                variant(LayerVariant, plain_keys=True),
            ),
            Mistake(
                "one_norm_used_twice",
                "One norm serves both sub-layers, so they share gain and bias.",
                "Make two LayerNorm objects.",
                variant(LayerVariant, norms="one"),
            ),
            Mistake(
                "norms_swapped",
                "norm_2 serves attention, and norm_1 the feed-forward.",
                "They are numbered in the order in which x meets them.",
                variant(LayerVariant, norms="swapped"),
            ),
            Mistake(
                "mask_not_passed_on",
                "The mask is accepted and then forgotten.",
                "Pass it on to the attention.",
                variant(LayerVariant, mask_as="none"),
            ),
            Mistake(
                "mask_inverted",
                "The mask is upside down: it keeps what it should block.",
                "True means “may be attended to”, here as in MultiHeadAttention. Pass it on as it "
                "is.",
                variant(LayerVariant, mask_as="inverted"),
            ),
            Mistake(
                "own_place_always_open",
                "Every token may attend to itself, whatever the mask says.",
                "The mask alone decides, and attention copes with a row that allows nothing: pass "
                "the mask on as it is.",
                variant(LayerVariant, mask_as="opened"),
            ),
            *(
                Mistake(
                    f"mask_{name}_in_{order}_norm",
                    f"In {order}-norm the mask is {what}.",
                    "True means “may be attended to”: both orders pass the mask on as it is.",
                    variant(LayerVariant, mask_as=mask_as, masked_wrongly=(order,)),
                )
                for order in ("post", "pre")
                for name, what, mask_as in (
                    ("inverted", "upside down: it keeps what it should block", "inverted"),
                    ("not_passed_on", "accepted and then forgotten", "none"),
                )
            ),
            Mistake(
                "sub_layers_not_dropped_out",
                "No dropout acts on what the sub-layers add.",
                "Dropout acts on each sub-layer's output before it is added.",
                variant(LayerVariant, drops=("", "")),
            ),
            Mistake(
                "attention_not_dropped_out",
                "No dropout acts on what attention adds.",
                _DROPOUT_HINT,
                variant(LayerVariant, drops=("f", "f")),
            ),
            Mistake(
                "feed_forward_not_dropped_out",
                "No dropout acts on what the feed-forward adds.",
                _DROPOUT_HINT,
                variant(LayerVariant, drops=("a", "a")),
            ),
            *(
                Mistake(
                    f"{order}_norm_{part}_not_dropped_out",
                    f"In {order}-norm, no dropout acts on what {adds}.",
                    "Dropout acts on each sub-layer's output in both orders.",
                    variant(LayerVariant, drops=(left, "af") if order == "post" else ("af", left)),
                )
                for order in ("post", "pre")
                for part, adds, left in _PARTS
            ),
            Mistake(
                "sum_dropped_out",
                "Dropout acts on the sum of input and sub-layer, so the residual is cut too.",
                "Dropout acts on each sub-layer's output before it is added.",
                variant(LayerVariant, dropped=("sum", "sum")),
            ),
            Mistake(
                "sum_dropped_out_in_post_norm",
                "In post-norm dropout acts on more than what a sub-layer adds: on the sum or on "
                "its norm, so the residual is cut too.",
                "Dropout acts on each sub-layer's output before it is added.",
                variant(LayerVariant, dropped=("sum", "found")),
            ),
            *(
                Mistake(
                    f"{part}_dropped_out_twice",
                    f"Dropout acts twice on what {adds}: too much is lost, and the rest grows too "
                    "large.",
                    "One dropout on what attention gives, and one on what the feed-forward gives.",
                    variant(LayerVariant, drops_again=which),
                )
                for (part, adds, _), which in zip(_PARTS, ("af", "a", "f"), strict=True)
            ),
            Mistake(
                "scaled_in_eval_mode",
                "In eval mode what the sub-layers add is made smaller, by 1 - dropout.",
                "Train mode makes up for what it drops, so eval mode leaves everything as it is.",
                variant(LayerVariant, scales_in_eval=True),
            ),
            Mistake(
                "dropout_is_what_is_kept",
                "`dropout` is used as the share of entries that are kept.",
                "A share of `dropout` is dropped: compare random numbers with it the other way "
                "round.",
                variant(LayerVariant, share=staticmethod(the_rest)),
            ),
            *(
                Mistake(
                    name,
                    f"In what a sub-layer adds, dropout drops {what}, not single entries.",
                    "Each entry is dropped independently, as nn.Dropout does.",
                    variant(LayerVariant, at_once=axis),
                )
                for axis, name, what in (
                    ((0,), "dropped_alike_in_all_sentences", "the same entries in all sentences"),
                    ((1,), "whole_columns_dropped", "an entry of all tokens at once"),
                    ((2,), "whole_tokens_dropped", "all entries of a token at once"),
                    ((1, 2), "whole_sub_layers_dropped", "all entries of a sentence at once"),
                )
            ),
            Mistake(
                "input_of_sub_layers_dropped_out",
                "Dropout acts on what a sub-layer reads, too.",
                "In the layer itself, dropout acts on what a sub-layer adds, and on nothing else.",
                variant(LayerVariant, drops_read=True),
            ),
            Mistake(
                "parts_get_no_dropout",
                "Attention and feed-forward are made without dropout.",
                "Both classes take dropout as an argument.",
                variant(LayerVariant, hands_on=""),
            ),
            Mistake(
                "attention_gets_no_dropout",
                "The attention is made without dropout.",
                "MultiHeadAttention takes dropout as an argument.",
                variant(LayerVariant, hands_on="f"),
            ),
            Mistake(
                "feed_forward_gets_no_dropout",
                "The feed-forward is made without dropout.",
                "FeedForward takes dropout as an argument.",
                variant(LayerVariant, hands_on="a"),
            ),
            Mistake(
                "mask_of_the_first_call",
                "The mask of an earlier call is used again.",
                "Each sentence has a mask of its own: keep nothing from a call in self.",
                variant(LayerVariant, mask_as="first"),
            ),
            Mistake(
                "mask_of_an_earlier_call",
                "A call without a mask gets the mask of an earlier call.",
                "mask=None means that every token may attend to every token: keep nothing from a "
                "call in self.",
                variant(LayerVariant, mask_as="before"),
            ),
            Mistake(
                "norm_1_called_twice",
                "norm_1 is called for both sub-layers; norm_2 is made but never used.",
                "Each sub-layer has a norm of its own: compare your two lines.",
                variant(LayerVariant, norms="first"),
            ),
            Mistake(
                "norms_without_gain_and_bias",
                "What norm_1 and norm_2 have learned has no effect.",
                "Norms are made once, in __init__, and called in forward.",
                variant(LayerVariant, norms="anew"),
            ),
            Mistake(
                "norm_at_the_end_of_pre_norm",
                "In pre-norm the last sum is normalised too.",
                "A pre-norm layer ends with a sum: the encoder has one more norm, after its last "
                "layer.",
                variant(LayerVariant, last_norm=True),
            ),
            Mistake(
                "weights_of_attention_taken",
                "self_attention returns a pair, output and weights; here the weights are used.",
                "The output is the pair's first part.",
                variant(LayerVariant, pair="weights"),
            ),
            Mistake(
                "feed_forward_first",
                "The feed-forward comes before attention.",
                "Tokens look at one another first; the network then works on what they found.",
                variant(LayerVariant, turns="fa"),
            ),
            Mistake(
                "dropout_after_the_norm",
                "In post-norm dropout acts on the norm's result.",
                "Dropout acts on each sub-layer's output before it is added.",
                variant(LayerVariant, dropped=("result", "found")),
            ),
            *(
                Mistake(
                    f"pair_of_attention_in_the_{where}",
                    "self_attention returns a pair, output and weights; here it is used as one "
                    "tensor.",
                    "Unpack it, or take its first part.",
                    variant(LayerVariant, pair=where),
                )
                for where in ("dropout", "sum")
            ),
            Mistake(
                "drops_in_eval_mode",
                "Dropout acts on what the sub-layers add in eval mode too.",
                "F.dropout must be told whether the model is training; nn.Dropout knows.",
                variant(LayerVariant, always_drops=True),
            ),
            Mistake(
                "mask_with_an_axis_too_many",
                "The mask gets an axis that self_attention gives it already.",
                "Pass the mask on as it came: (B, T, T) or (B, 1, T).",
                variant(LayerVariant, mask_as="unsqueezed"),
            ),
            Mistake(
                "pre_norm_by_default",
                "Where norm_first is not given, the layer normalises first.",
                "Look at the defaults in the first line of __init__.",
                variant(LayerVariant, other_order=True),
            ),
            Mistake(
                "no_dropout_by_default",
                "Where dropout is not given, the rate is not 0.1.",
                "Look at the defaults in the first line of __init__.",
                variant(LayerVariant, other_dropout=0.0),
            ),
            no_set_up("EncoderLayer", keep_module),
            no_forward("EncoderLayer", LayerVariant),
            own_dropout_rate(variant(LayerVariant, own_rate=0.5)),
        ),
    ),
)
