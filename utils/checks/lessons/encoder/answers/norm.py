"""Layer normalisation: right answers and common mistakes."""

from collections.abc import Callable

from torch import Tensor

from utils.checks.authoring.common_mistakes import (
    keep_parameter,
    no_forward,
    no_set_up,
)
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.part_variants import NormVariant, variant
from utils.checks.lessons.encoder.probes import PROBES
from utils.reference import modules

_BY_SQUARES = (
    "The spread around the mean is measured by squares: square, average, then take the root."
)
_BY_TOKEN = "Each token is normalised on its own: which axis holds its entries?"
# What a token is divided by in the place of its standard deviation.
_MEASURES: tuple[tuple[str, str, str, str, Callable[[Tensor], Tensor]], ...] = (
    (
        "absolute_mean",
        "mean of its absolute values",
        _BY_SQUARES,
        "centred",
        lambda x: x.abs().mean(-1, keepdim=True),
    ),
    (
        "absolute_sum",
        "sum of its absolute values",
        _BY_SQUARES,
        "centred",
        lambda x: x.abs().sum(-1, keepdim=True),
    ),
    (
        "largest_entry",
        "largest absolute value",
        _BY_SQUARES,
        "centred",
        lambda x: x.abs().amax(-1, keepdim=True),
    ),
    (
        "range",
        "distance from its smallest entry to its largest",
        _BY_SQUARES,
        "centred",
        lambda x: x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True),
    ),
    (
        "length",
        "length (2-norm): the squares are added up but not averaged",
        "The variance is the mean of the squares: what does a norm leave out?",
        "centred",
        lambda x: x.norm(dim=-1, keepdim=True),
    ),
    (
        "spread_of_all",
        "standard deviation of all entries of x",
        _BY_TOKEN,
        "given",
        lambda x: x.std(correction=0),
    ),
    (
        "unbiased_spread_of_all",
        "standard deviation of all entries of x",
        _BY_TOKEN,
        "given",
        lambda x: x.std(),
    ),
)
_POWERS = (6, 8, 12)  # 10**-power: epsilons of other libraries and papers
_NORM_MISTAKES = (
    no_forward("LayerNorm", NormVariant),
    no_set_up("LayerNorm", keep_parameter),
    Mistake(
        "over_tokens_too",
        "Mean and variance run over the whole sequence, so tokens affect one another.",
        "Each token is normalised on its own: which axis holds its entries?",
        variant(NormVariant, axes=(-2, -1)),
    ),
    Mistake(
        "gain_on_the_bias",
        "The gain multiplies the bias too.",
        "Multiply first, then add: look at the brackets.",
        variant(NormVariant, gain_last=True),
    ),
    *(
        Mistake(
            name,
            "The bias is added before the division, so it is divided along with x.",
            "In the formula the bias comes last: what is divided by the root, and what is added "
            "after that?",
            variant(NormVariant, bias_at=where),
        )
        for name, where in (("bias_divided", "gained"), ("bias_divided_and_gained", "divided"))
    ),
    Mistake(
        "gain_and_bias_first",
        "Gain and bias act on x before it is normalised.",
        "Follow the formula: the norm first, then the gain, then the bias.",
        variant(NormVariant, bias_at="first"),
    ),
    *(
        Mistake(
            f"one_plus_the_gain_{how}",
            "The gain is applied as 1 + weight.",
            "self.weight is the gain itself, ones at the start. (Some models store its distance "
            "from one.)",
            variant(NormVariant, gain_offset=1.0, gain_at_first=first),
        )
        for how, first in (("from_zero", 0.0), ("from_one", 1.0))
    ),
    Mistake(
        "mean_without_its_axis",
        "The mean has lost the axis that it was taken over, and no longer fits x.",
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
        "Nothing, or far too little, is added to the variance, so a token whose entries are all "
        "equal is divided by zero or almost zero.",
        "What is added to the variance under the root, and how large is it?",
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
            "The eps that the caller gave is not used; a fixed one is used instead.",
            "Keep it in __init__ and use it in forward.",
            variant(NormVariant, own_eps=10.0**-power),
        )
        for power in _POWERS
    ),
    *(
        Mistake(
            f"default_epsilon_of_{power}",
            "Where no eps is given, the one that is used is not the 1e-5 of the stub.",
            "Look at the defaults in the first line of __init__, and at what it does with eps.",
            variant(NormVariant, default_eps=10.0**-power),
        )
        for power in _POWERS
    ),
    *(
        Mistake(
            f"{what}_clamped",
            f"Epsilon only replaces a {what} that is smaller; it should be added.",
            "Look under the root in the formula: epsilon is added for every token.",
            variant(NormVariant, spread=staticmethod(spread)),
        )
        for what, spread in (
            ("deviation", lambda v, eps: v.sqrt().clamp(min=eps)),
            ("variance", lambda v, eps: v.clamp(min=eps).sqrt()),
        )
    ),
    Mistake(
        "epsilon_squared",
        "Epsilon is squared under the root, so next to nothing is added to the variance.",
        "Look under the root in the formula: epsilon is there as it is given.",
        variant(NormVariant, spread=staticmethod(lambda v, eps: (v + eps**2).sqrt())),
    ),
    *(
        Mistake(
            f"mean_and_{what}_exchanged",
            f"Mean and {what} are swapped: the {what} is subtracted.",
            "What does the function that gives both return first?",
            variant(NormVariant, exchanged=what),
        )
        for what in ("variance", "deviation")
    ),
    Mistake(
        "divided_by_the_variance",
        "The entries are divided by the variance, not by its root.",
        "A spread of 3 has to become 1: which of the two is measured in x's own unit?",
        variant(NormVariant, spread=staticmethod(lambda v, eps: v + eps)),
    ),
    Mistake(
        "divided_by_the_squared_variance",
        "The entries are divided by the square of the variance, not by its root.",
        "A spread of 3 has to become 1: which power of the variance is in x's own unit?",
        variant(NormVariant, spread=staticmethod(lambda v, eps: (v + eps) ** 2)),
    ),
    *(
        Mistake(
            f"divided_by_{name}",
            f"Each token is divided by the {said}.",
            hint,
            variant(NormVariant, measured=staticmethod(measure), measured_of=given),
        )
        for name, said, hint, given, measure in _MEASURES
    ),
    Mistake(
        "min_max_scaling",
        "Each token is scaled to lie between 0 and 1: its smallest entry is subtracted, and then "
        "it is divided by its range.",
        "Subtract the mean, and divide by the root of the variance.",
        variant(
            NormVariant,
            centre=staticmethod(lambda x: x.amin(-1, keepdim=True)),
            measured=staticmethod(lambda x: x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True)),
        ),
    ),
    Mistake(
        "centred_at_the_median",
        "The median is subtracted, not the mean.",
        "The median is the middle entry; the formula has the average.",
        variant(NormVariant, centre=staticmethod(lambda x: x.median(-1, keepdim=True).values)),
    ),
    Mistake(
        "centred_at_the_median_alone",
        "The median is taken away, not the mean.",
        "The middle entry is not the average: mean(-1, keepdim=True).",
        variant(
            NormVariant,
            centre=staticmethod(lambda x: x.median(-1, keepdim=True).values),
            about_the_mean=True,
        ),
    ),
    Mistake(
        "gain_before_the_norm",
        "The gain acts on x, before mean and variance are taken.",
        "In the formula the gain multiplies what has been divided.",
        variant(NormVariant, gain_first=True, gain=False),
    ),
    Mistake(
        "one_gain_for_all",
        "All entries are multiplied by one number, the mean of the gain.",
        "The gain has an entry for each of x's last axis.",
        variant(NormVariant, one_gain=True),
    ),
    Mistake(
        "not_centred",
        "The mean is not subtracted before the division.",
        "The numerator of the formula has two terms.",
        variant(NormVariant, centred=False),
    ),
    Mistake(
        "squares_of_x_for_the_variance",
        "The mean of the squares of x is used as the variance.",
        "The variance averages the squares of x minus its mean.",
        variant(NormVariant, by_squares=True),
    ),
    Mistake(
        "rms_norm",
        "No mean is subtracted, neither in the numerator nor under the root: that is RMS "
        "normalisation.",
        "Both the numerator and the variance of the formula contain x minus its mean.",
        variant(NormVariant, by_squares=True, centred=False),
    ),
    *(
        Mistake(
            f"mean_over_{where}",
            f"The mean that is subtracted runs over the {said}.",
            "Each token is normalised on its own: which axis holds its entries?",
            variant(NormVariant, mean_axes=axes),
        )
        for where, said, axes in (
            ("the_sequence", "tokens of a sequence", (-2,)),
            ("the_batch", "batch", (0,)),
            ("tokens_too", "whole sequence", (-2, -1)),
        )
    ),
    *(
        Mistake(
            f"variance_over_{where}",
            f"The mean is each token's own, the variance that of the {said}.",
            _BY_TOKEN,
            variant(NormVariant, mean_axes=(-1,), axes=axes),
        )
        for where, said, axes in (
            ("the_sequence", "tokens of a sequence, entry by entry", (-2,)),
            ("tokens_too", "whole sequence", (-2, -1)),
        )
    ),
    Mistake(
        "over_the_sequence",
        "Mean and variance run over the tokens of a sequence, for each entry separately.",
        "Each token is normalised on its own: which axis holds its entries?",
        variant(NormVariant, axes=(-2,)),
    ),
    Mistake(
        "over_the_batch",
        "Mean and variance run over the batch, as in batch normalisation.",
        "Each token is normalised on its own: which axis holds its entries?",
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
        "The variance is the mean of the squares minus the square of the mean: far from zero, two "
        "large numbers are subtracted, and what is left has few right digits.",
        "Subtract the mean first, then square.",
        variant(NormVariant, by_difference=True),
    ),
)


EXERCISES = by_id(Exercise(PROBES["LayerNorm"], modules.LayerNorm, _NORM_MISTAKES, tolerance=5e-5))
