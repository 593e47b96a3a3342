"""Layer normalisation and the feed-forward network: right answers and common mistakes."""

import torch
from torch import nn

from utils.checks.authoring.common_mistakes import (
    keep_module,
    keep_parameter,
    no_forward,
    no_set_up,
    own_dropout_rate,
)
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.part_variants import FeedVariant, NormVariant, variant
from utils.checks.lessons.encoder.probes import PROBES
from utils.reference import modules

_POWERS = (6, 8, 12)  # 10**-power: epsilons of other libraries and papers
_NORM_MISTAKES = (
    no_forward("LayerNorm", NormVariant),
    no_set_up("LayerNorm", keep_parameter),
    Mistake(
        "over_tokens_too",
        "Mean and variance run over the whole sequence, so tokens change one another.",
        "Each token is normalised by itself: which axis holds its entries?",
        variant(NormVariant, axes=(-2, -1)),
    ),
    Mistake(
        "gain_on_the_bias",
        "The gain multiplies the bias too.",
        "Products before sums: look at the brackets.",
        variant(NormVariant, gain_last=True),
    ),
    Mistake(
        "mean_without_its_axis",
        "The mean has lost the axis that it was taken over, and does not fit x any more.",
        "keepdim=True leaves an axis of size one in its place.",
        variant(NormVariant, keepdim=False),
    ),
    Mistake(
        "unbiased_variance",
        "The variance is divided by D - 1.",
        "Layer normalisation divides by D: look at the arguments of var and std.",
        variant(NormVariant, correction=1),
    ),
    Mistake(
        "unbiased_and_epsilon_outside",
        "The variance is divided by D - 1, and epsilon is added outside the root.",
        "x.std() divides by D - 1 unless told otherwise, and epsilon belongs under the root.",
        variant(NormVariant, correction=1, spread=staticmethod(lambda v, eps: v.sqrt() + eps)),
    ),
    Mistake(
        "epsilon_outside_the_root",
        "Epsilon is added to the standard deviation, not to the variance.",
        "Look under the root in the formula.",
        variant(NormVariant, spread=staticmethod(lambda v, eps: v.sqrt() + eps)),
    ),
    Mistake(
        "no_epsilon",
        "Nothing that counts is added to the variance, so a token whose entries are all equal is "
        "divided by zero, or nearly so.",
        "What stands beside the variance under the root, and how large is it?",
        variant(NormVariant, spread=staticmethod(lambda v, eps: v.sqrt())),
    ),
    Mistake(
        "epsilon_not_the_given_one",
        "The eps that the caller gave is not used.",
        "Keep it in __init__ and use it in forward.",
        variant(NormVariant, own_eps=1e-5),
    ),
    *(
        Mistake(
            f"own_epsilon_of_{power}",
            "The eps that the caller gave is not used: another, fixed one is.",
            "Keep it in __init__ and use it in forward.",
            variant(NormVariant, own_eps=10.0**-power),
        )
        for power in _POWERS
    ),
    *(
        Mistake(
            f"default_epsilon_of_{power}",
            "Where no eps is given, another one is taken than the 1e-5 of the stub.",
            "Look at the defaults in the first line of __init__, and at what it does with eps.",
            variant(NormVariant, default_eps=10.0**-power),
        )
        for power in _POWERS
    ),
    *(
        Mistake(
            f"{what}_clamped",
            f"Epsilon only takes the place of a {what} that is smaller; it should be added.",
            "Read what stands under the root in the formula: epsilon counts for every token.",
            variant(NormVariant, spread=staticmethod(spread)),
        )
        for what, spread in (
            ("deviation", lambda v, eps: v.sqrt().clamp(min=eps)),
            ("variance", lambda v, eps: v.clamp(min=eps).sqrt()),
        )
    ),
    Mistake(
        "divided_by_the_variance",
        "The entries are divided by the variance, not by its root.",
        "A spread of 3 has to become 1: which of the two is measured in x's own unit?",
        variant(NormVariant, spread=staticmethod(lambda v, eps: v + eps)),
    ),
    Mistake(
        "not_centred",
        "The mean is not taken away before the division.",
        "The numerator of the formula has two terms.",
        variant(NormVariant, centred=False),
    ),
    Mistake(
        "squares_of_x_for_the_variance",
        "The mean of the squares of x stands where the variance should.",
        "The variance averages the squares of what is left when the mean is taken away.",
        variant(NormVariant, by_squares=True),
    ),
    Mistake(
        "rms_norm",
        "No mean is taken away, neither above nor under the root: that is RMS normalisation.",
        "Both the numerator and the variance of the formula contain x minus its mean.",
        variant(NormVariant, by_squares=True, centred=False),
    ),
    *(
        Mistake(
            f"mean_over_{where}",
            f"The mean that is taken away runs over the {said}.",
            "Each token is normalised by itself: which axis holds its entries?",
            variant(NormVariant, mean_axes=axes),
        )
        for where, said, axes in (
            ("the_sequence", "tokens of a sequence", (-2,)),
            ("the_batch", "batch", (0,)),
            ("tokens_too", "whole sequence", (-2, -1)),
        )
    ),
    Mistake(
        "over_the_sequence",
        "Mean and variance run over the tokens of a sequence, for each entry apart.",
        "Each token is normalised by itself: which axis holds its entries?",
        variant(NormVariant, axes=(-2,)),
    ),
    Mistake(
        "over_the_batch",
        "Mean and variance run over the batch, as in batch normalisation.",
        "Each token is normalised by itself: which axis holds its entries?",
        variant(NormVariant, axes=(0,)),
    ),
    Mistake(
        "gain_left_out",
        "The gain (weight) is not applied.",
        "After the division come two more steps, both with something learned.",
        variant(NormVariant, gain=False),
    ),
    Mistake(
        "bias_left_out",
        "The bias is not added.",
        "After the division come two more steps, both with something learned.",
        variant(NormVariant, bias_used=False),
    ),
    Mistake(
        "gain_and_bias_left_out",
        "Neither the gain nor the bias is applied.",
        "After the division come two more steps, both with something learned.",
        variant(NormVariant, gain=False, bias_used=False),
    ),
    Mistake(
        "gain_starts_at_zero",
        "At the start the gain is zero, so every output is the bias.",
        "A fresh layer should change nothing after the division: which gain and which bias?",
        variant(NormVariant, gain_at_first=0.0),
    ),
    Mistake(
        "not_parameters",
        "Gain and bias are plain tensors: an optimiser would not find them.",
        "nn.Parameter makes a tensor known to the module.",
        variant(NormVariant, registered=False),
    ),
    Mistake(
        "gain_by_another_name",
        "There is no self.weight: the gain must be called weight, as in torch.",
        "The docstring names both attributes.",
        variant(NormVariant, names=("gamma", "bias")),
    ),
    Mistake(
        "bias_by_another_name",
        "There is no self.bias: what is added must be called bias, as in torch.",
        "The docstring names both attributes.",
        variant(NormVariant, names=("weight", "beta")),
    ),
    Mistake(
        "variance_by_difference",
        "Mean of squares minus square of the mean loses its digits when the mean is large.",
        "Take the mean away first, then square.",
        variant(NormVariant, by_difference=True),
    ),
)


EXERCISES = by_id(
    Exercise(PROBES["LayerNorm"], modules.LayerNorm, _NORM_MISTAKES, tolerance=5e-5),
    Exercise(
        PROBES["FeedForward"],
        modules.FeedForward,
        (
            no_forward("FeedForward", FeedVariant),
            no_set_up("FeedForward", keep_module),
            own_dropout_rate(variant(FeedVariant, own_rate=0.5)),
            Mistake(
                "no_relu",
                "Without ReLU the two layers are one linear layer.",
                "What stands between linear_1 and linear_2 in the formula?",
                variant(FeedVariant, relu_at="nowhere"),
            ),
            Mistake(
                "relu_at_the_end",
                "ReLU comes after linear_2, so the output has no negative entries.",
                "max(0, ...) closes before W2.",
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
                "max(0, ...) stands around W1 x + b1.",
                variant(FeedVariant, relu_at="start"),
            ),
            *(
                Mistake(
                    name,
                    f"{said} stands where ReLU should.",
                    "The formula says max(0, ...).",
                    variant(FeedVariant, activation=staticmethod(activation)),
                )
                for name, said, activation in (
                    ("tanh", "tanh", torch.tanh),
                    ("sigmoid", "The sigmoid", torch.sigmoid),
                )
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
                "GELU stands where ReLU should (later models use it; this exercise does not).",
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
                "The inner size and the outer size have changed places.",
                "linear_1 goes from d_model to d_ff.",
                variant(FeedVariant, sizes_swapped=True),
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
                variant(FeedVariant, dropout_at="nowhere"),
            ),
            Mistake(
                "dropout_at_the_start",
                "Dropout acts on x, before linear_1.",
                "Here it drops hidden units: it stands where they are finished.",
                variant(FeedVariant, dropout_at="start"),
            ),
            Mistake(
                "dropout_at_the_end",
                "Dropout comes after linear_2.",
                "Here it drops hidden units; what the sub-layer adds is dropped by the layer.",
                variant(FeedVariant, dropout_at="end"),
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
