"""The feed-forward network: right answers and common mistakes."""

import torch
from torch import Tensor, nn

from utils.checks.authoring.common_mistakes import (
    dropout_by_default,
    keep_module,
    no_forward,
    no_set_up,
    own_dropout_rate,
)
from utils.checks.authoring.dropping import the_rest
from utils.checks.framework.changes import normalised
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.part_variants import FeedVariant, variant
from utils.checks.lessons.encoder.probes import PROBES
from utils.reference import modules


def _normalised_relu(h: Tensor) -> Tensor:
    return normalised(h.relu())


EXERCISES = by_id(
    Exercise(
        PROBES["FeedForward"],
        modules.FeedForward,
        (
            no_forward("FeedForward", FeedVariant),
            no_set_up("FeedForward", keep_module),
            own_dropout_rate(variant(FeedVariant, own_rate=0.5)),
            dropout_by_default(variant(FeedVariant, default_rate=0.1)),
            Mistake(
                "no_relu",
                "Without ReLU the two layers are one linear layer.",
                "What comes between linear_1 and linear_2 in the formula?",
                variant(FeedVariant, relu_at="nowhere"),
            ),
            Mistake(
                "relu_at_the_end",
                "ReLU comes after linear_2, so the output has no negative entries.",
                "In the formula, max(0, ...) ends before W2.",
                variant(FeedVariant, relu_at="end"),
            ),
            Mistake(
                "relu_twice",
                "There is a second ReLU after linear_2.",
                "The output may be negative: it is added to a residual.",
                variant(FeedVariant, relu_at="both"),
            ),
            Mistake(
                "relu_at_the_start",
                "ReLU comes before linear_1, so the negative entries of x are lost.",
                "In the formula, max(0, ...) goes around W1 x + b1.",
                variant(FeedVariant, relu_at="start"),
            ),
            *(
                Mistake(
                    name,
                    f"{said} is used where the formula has ReLU.",
                    "The formula says max(0, ...).",
                    variant(FeedVariant, activation=staticmethod(activation)),
                )
                for name, said, activation in (
                    ("leaky_relu", "Leaky ReLU", nn.functional.leaky_relu),
                    ("negative_part", "The smaller of h and 0", lambda h: h.clamp(max=0)),
                    ("tanh", "tanh", torch.tanh),
                    ("absolute_value", "The absolute value", torch.abs),
                    ("squared_relu", "The square of ReLU", lambda h: h.relu().square()),
                    ("sigmoid", "The sigmoid", torch.sigmoid),
                    ("relu_6", "ReLU6, which cuts what is above 6,", nn.functional.relu6),
                    ("elu", "ELU", nn.functional.elu),
                    ("softmax", "A softmax", lambda h: h.softmax(-1)),
                    (
                        "relu_up_to_1",
                        "A ReLU that cuts what is above 1",
                        lambda h: h.clamp(0, 1),
                    ),
                    ("silu", "SiLU", nn.functional.silu),
                    ("softplus", "Softplus", nn.functional.softplus),
                )
            ),
            Mistake(
                "hidden_units_normalised",
                "The hidden units are normalised between ReLU and linear_2.",
                "In the formula W2 acts on max(0, ...) as it is; norms belong to the layer.",
                variant(FeedVariant, activation=staticmethod(_normalised_relu)),
            ),
            Mistake(
                "normalised_before_relu",
                "What linear_1 gives is normalised before ReLU.",
                "In the formula max(0, ...) acts on W1 x + b1; norms belong to the layer.",
                variant(FeedVariant, activation=staticmethod(lambda h: normalised(h).relu())),
            ),
            Mistake(
                "layers_by_another_name",
                "There is no self.linear_1: later lessons look for the layers by name.",
                "The docstring names both: linear_1 and linear_2.",
                variant(FeedVariant, prefix="own_"),
            ),
            Mistake(
                "inner_size_fixed",
                "The inner size is 4 D, whatever d_ff says.",
                "d_ff is the number of hidden units.",
                variant(FeedVariant, inner=4),
            ),
            Mistake(
                "inner_size_of_the_model",
                "The inner size is D, whatever d_ff says.",
                "d_ff is the number of hidden units.",
                variant(FeedVariant, inner=1),
            ),
            Mistake(
                "gelu",
                "GELU is used where the formula has ReLU (later models use it; this exercise does "
                "not).",
                "The formula says max(0, ...).",
                variant(FeedVariant, activation=staticmethod(nn.functional.gelu)),
            ),
            Mistake(
                "residual_inside",
                "The input is added to the output here.",
                "Residuals belong to the encoder layer, which adds them itself.",
                variant(FeedVariant, residual=True),
            ),
            Mistake(
                "sizes_swapped",
                "The sizes are swapped: d_ff outside, d_model inside.",
                "linear_1 goes from d_model to d_ff.",
                variant(FeedVariant, sizes_swapped=True),
            ),
            Mistake(
                "three_axes_alone",
                "Your code expects x to be (B, T, D): with one axis, or with four, it fails.",
                "nn.Linear works on the last axis, however many come before it: what do you need "
                "the sizes for?",
                variant(FeedVariant, three_axes=True),
            ),
            Mistake(
                "tokens_in_one_axis",
                "The axes before the last are joined into one, and x's shape does not come back.",
                "nn.Linear works on the last axis, however many come before it: x can stay as it "
                "is.",
                variant(FeedVariant, flattened=True),
            ),
            Mistake(
                "layers_tied",
                "The weight of linear_1 is used twice, the second time transposed, and that of "
                "linear_2 never.",
                "W1 and W2 are two matrices, each trained by itself.",
                variant(FeedVariant, tied=True),
            ),
            Mistake(
                "without_bias",
                "The linear layers have no bias.",
                "nn.Linear has one unless told otherwise.",
                variant(FeedVariant, bias=False),
            ),
            Mistake(
                "dropout_left_out",
                "Dropout is accepted and then forgotten.",
                "Make an nn.Dropout in __init__ and use it between the two layers.",
                variant(FeedVariant, dropout_at=()),
            ),
            Mistake(
                "dropout_at_the_start",
                "Dropout acts on x, before linear_1.",
                "Here it drops hidden units, so it goes where they are finished.",
                variant(FeedVariant, dropout_at=("start",)),
            ),
            Mistake(
                "dropout_at_the_end",
                "Dropout comes after linear_2.",
                "Here it drops hidden units; what the sub-layer adds is dropped by the layer.",
                variant(FeedVariant, dropout_at=("end",)),
            ),
            Mistake(
                "dropout_of_x_too",
                "Dropout acts twice: on x, before linear_1, and on the hidden units.",
                "Only hidden units are dropped: one dropout, where they are finished.",
                variant(FeedVariant, dropout_at=("start", "middle")),
            ),
            Mistake(
                "dropout_of_the_output_too",
                "Dropout acts twice: on the hidden units, and once more after linear_2.",
                "Only hidden units are dropped; what the sub-layer adds is dropped by the layer.",
                variant(FeedVariant, dropout_at=("middle", "end")),
            ),
            Mistake(
                "dropout_of_hidden_units_twice",
                "Dropout acts twice on the hidden units: too many are dropped, and the rest grow "
                "too large.",
                "One dropout, after ReLU.",
                variant(FeedVariant, dropout_at=("middle", "middle")),
            ),
            Mistake(
                "dropout_not_scaled",
                "What dropout keeps is not scaled up.",
                "What is kept is divided by 1 - dropout, as nn.Dropout does.",
                variant(FeedVariant, scaled=False),
            ),
            Mistake(
                "scaled_in_eval_mode",
                "In eval mode the hidden units are made smaller, by 1 - dropout.",
                "Train mode makes up for what it drops, so eval mode leaves everything as it is.",
                variant(FeedVariant, scales_in_eval=True),
            ),
            Mistake(
                "dropout_is_what_is_kept",
                "`dropout` is used as the share of hidden units that are kept.",
                "A share of `dropout` is dropped: compare random numbers with it the other way "
                "round.",
                variant(FeedVariant, share=staticmethod(the_rest)),
            ),
            *(
                Mistake(
                    name,
                    f"Dropout drops {what}, not single hidden units.",
                    "Each hidden unit of each token is dropped independently, as nn.Dropout does.",
                    variant(FeedVariant, at_once=axis),
                )
                for axis, name, what in (
                    ((0,), "dropped_alike_in_all_sentences", "the same units in all sentences"),
                    (
                        (1,),
                        "dropped_alike_in_a_sentence",
                        "the same units for all tokens of a sentence",
                    ),
                    ((0, 1), "dropped_alike_in_all_tokens", "the same units for all tokens"),
                    ((2,), "whole_tokens_dropped", "all hidden units of a token at once"),
                )
            ),
            Mistake(
                "drops_in_eval_mode",
                "Dropout acts in eval mode too.",
                "F.dropout must be told whether the model is training; nn.Dropout knows.",
                variant(FeedVariant, always_drops=True),
            ),
        ),
    ),
)
