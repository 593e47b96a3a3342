"""Layer normalisation and the feed-forward network: what is right and commonly wrong."""

from typing import Any

from torch import nn

from utils import blocks
from utils.checks.encoder.probes import PROBES
from utils.checks.encoder.variants import FeedVariant, NormVariant, variant
from utils.checks.exercise import Exercise, Mistake
from utils.checks.module_mistakes import no_forward, own_dropout_rate

_PROBES = {probe.exercise: probe for probe in PROBES}


def _norm(name: str, says: str, hint: str, **choices: Any) -> Mistake:
    return Mistake(name, says, hint, variant(NormVariant, **choices))


def _feed(name: str, says: str, hint: str, **choices: Any) -> Mistake:
    return Mistake(name, says, hint, variant(FeedVariant, **choices))


_POWERS = (6, 8, 12)  # of ten: the epsilons of other libraries and papers
_NORM_MISTAKES = (
    no_forward("LayerNorm", NormVariant),
    _norm(
        "mean_without_its_axis",
        "The mean has lost the axis that it was taken over, and does not fit x any more.",
        "keepdim=True leaves an axis of size one in its place.",
        keepdim=False,
    ),
    _norm(
        "unbiased_variance",
        "The variance is divided by D - 1.",
        "Layer normalisation divides by D: look at the arguments of var and std.",
        correction=1,
    ),
    _norm(
        "unbiased_and_epsilon_outside",
        "The variance is divided by D - 1, and epsilon is added outside the root.",
        "x.std() divides by D - 1 unless told otherwise, and epsilon belongs under the root.",
        correction=1,
        spread=staticmethod(lambda v, eps: v.sqrt() + eps),
    ),
    _norm(
        "epsilon_outside_the_root",
        "Epsilon is added to the standard deviation, not to the variance.",
        "Look under the root in the formula.",
        spread=staticmethod(lambda v, eps: v.sqrt() + eps),
    ),
    _norm(
        "no_epsilon",
        "Nothing that counts is added to the variance, so a token whose entries are all equal is "
        "divided by zero, or nearly so.",
        "What stands beside the variance under the root, and how large is it?",
        spread=staticmethod(lambda v, eps: v.sqrt()),
    ),
    _norm(
        "epsilon_not_the_given_one",
        "The eps that the caller gave is not used.",
        "Keep it in __init__ and use it in forward.",
        own_eps=1e-5,
    ),
    *(
        _norm(
            f"own_epsilon_of_{power}",
            "The eps that the caller gave is not used: another, fixed one is.",
            "Keep it in __init__ and use it in forward.",
            own_eps=10.0**-power,
        )
        for power in _POWERS
    ),
    *(
        _norm(
            f"default_epsilon_of_{power}",
            "Where no eps is given, another one is taken than the 1e-5 of the stub.",
            "Look at the defaults in the first line of __init__, and at what it does with eps.",
            default_eps=10.0**-power,
        )
        for power in _POWERS
    ),
    *(
        _norm(
            f"{what}_clamped",
            f"Epsilon only takes the place of a {what} that is smaller; it should be added.",
            "Read what stands under the root in the formula: epsilon counts for every token.",
            spread=staticmethod(spread),
        )
        for what, spread in (
            ("deviation", lambda v, eps: v.sqrt().clamp(min=eps)),
            ("variance", lambda v, eps: v.clamp(min=eps).sqrt()),
        )
    ),
    _norm(
        "divided_by_the_variance",
        "The entries are divided by the variance, not by its root.",
        "A spread of 3 has to become 1: which of the two is measured in x's own unit?",
        spread=staticmethod(lambda v, eps: v + eps),
    ),
    _norm(
        "not_centred",
        "The mean is not taken away before the division.",
        "The numerator of the formula has two terms.",
        centred=False,
    ),
    _norm(
        "over_tokens_too",
        "Mean and variance run over the whole sequence, so tokens change one another.",
        "Each token is normalised by itself: which axis holds its entries?",
        axes=(-2, -1),
    ),
    _norm(
        "over_the_sequence",
        "Mean and variance run over the tokens of a sequence, for each entry apart.",
        "Each token is normalised by itself: which axis holds its entries?",
        axes=(-2,),
    ),
    _norm(
        "over_the_batch",
        "Mean and variance run over the batch, as in batch normalisation.",
        "Each token is normalised by itself: which axis holds its entries?",
        axes=(0,),
    ),
    _norm(
        "gain_left_out",
        "The gain (weight) is not applied.",
        "After the division come two more steps, both with something learned.",
        gain=False,
    ),
    _norm(
        "bias_left_out",
        "The bias is not added.",
        "After the division come two more steps, both with something learned.",
        bias_used=False,
    ),
    _norm(
        "gain_and_bias_left_out",
        "Neither the gain nor the bias is applied.",
        "After the division come two more steps, both with something learned.",
        gain=False,
        bias_used=False,
    ),
    _norm(
        "gain_starts_at_zero",
        "At the start the gain is zero, so every output is the bias.",
        "A fresh layer should change nothing after the division: which gain and which bias?",
        gain_at_first=0.0,
    ),
    _norm(
        "not_parameters",
        "Gain and bias are plain tensors: an optimiser would not find them.",
        "nn.Parameter makes a tensor known to the module.",
        registered=False,
    ),
    _norm(
        "gain_by_another_name",
        "There is no self.weight: the gain must be called weight, as in torch.",
        "The docstring names both attributes.",
        names=("gamma", "bias"),
    ),
    _norm(
        "bias_by_another_name",
        "There is no self.bias: what is added must be called bias, as in torch.",
        "The docstring names both attributes.",
        names=("weight", "beta"),
    ),
    _norm(
        "variance_by_difference",
        "Mean of squares minus square of the mean loses its digits when the mean is large.",
        "Take the mean away first, then square.",
        by_difference=True,
    ),
)


PARTS = (
    Exercise(_PROBES["LayerNorm"], blocks.LayerNorm, _NORM_MISTAKES, tolerance=5e-5),
    Exercise(
        _PROBES["FeedForward"],
        blocks.FeedForward,
        (
            no_forward("FeedForward", FeedVariant),
            own_dropout_rate(variant(FeedVariant, own_rate=0.5)),
            _feed(
                "no_relu",
                "Without ReLU the two layers are one linear layer.",
                "What stands between linear_1 and linear_2 in the formula?",
                relu_at="nowhere",
            ),
            _feed(
                "relu_at_the_end",
                "ReLU comes after linear_2, so the output has no negative entries.",
                "max(0, ...) closes before W2.",
                relu_at="end",
            ),
            _feed(
                "relu_twice",
                "There is a second ReLU after linear_2.",
                "The output may be negative: it is added to a residual.",
                relu_at="both",
            ),
            _feed(
                "gelu",
                "GELU stands where ReLU should (later models use it; this exercise does not).",
                "The formula says max(0, ...).",
                activation=staticmethod(nn.functional.gelu),
            ),
            _feed(
                "residual_inside",
                "The input is added to the output here.",
                "Residuals belong to the encoder layer, which adds them itself.",
                residual=True,
            ),
            _feed(
                "sizes_swapped",
                "The inner size and the outer size have changed places.",
                "linear_1 goes from d_model to d_ff.",
                sizes_swapped=True,
            ),
            _feed(
                "without_bias",
                "The linear layers have no bias.",
                "nn.Linear has one unless told otherwise.",
                bias=False,
            ),
            _feed(
                "dropout_left_out",
                "Dropout is accepted and then forgotten.",
                "Make an nn.Dropout in __init__ and use it between the two layers.",
                dropout_at="nowhere",
            ),
            _feed(
                "dropout_at_the_end",
                "Dropout comes after linear_2.",
                "Here it drops hidden units; what the sub-layer adds is dropped by the layer.",
                dropout_at="end",
            ),
            _feed(
                "drops_in_eval_mode",
                "Dropout acts in eval mode too.",
                "F.dropout must be told whether the model is training; nn.Dropout knows.",
                always_drops=True,
            ),
        ),
    ),
)
