"""The stable softmax: right answers and common mistakes."""

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.lessons.start_here.answers.softmax_variants import (
    build_softmax,
    highest,
    infinity_as_zero,
    kept_sum,
    largest_finite_size,
    largest_size,
    lowest_finite,
    mean_of_finite,
    pair_of_maxima,
    scaled_to_a_range,
    sign_reversed,
    standardised,
    unshifted,
    with_added,
)
from utils.checks.lessons.start_here.probes import PROBES
from utils.checks.observation import Observation

# Bound at import: torch lacks these names while an answer is observed.
_torch_softmax, _torch_log_softmax = torch.softmax, torch.log_softmax


def softmax_oracle(x: Tensor, dim: int = -1) -> Tensor:
    """Return torch's softmax, with 0 where a whole slice is minus infinity."""
    blocked = (x == -torch.inf).all(dim, keepdim=True)
    return _torch_softmax(x.masked_fill(blocked, 0.0), dim).masked_fill(blocked, 0.0)


def _in_float64(x: Tensor, dim: int = -1) -> Tensor:
    weights: Tensor = build_softmax(shift=unshifted)(x.double(), dim)
    return weights.to(x.dtype)


def _sums_to_one(inputs: Inputs, seen: Observation) -> bool:
    expected = softmax_oracle(inputs["x"], inputs["dim"]).sum(inputs["dim"])
    sums = torch.as_tensor(seen.values["probabilities"]).sum(inputs["dim"])
    return torch.allclose(sums, expected, atol=1e-4)


_OVERFLOW = (
    "exp of a large number overflows to infinity, and infinity divided by infinity is NaN.",
    "Softmax does not change when the same number is subtracted from every entry of a slice. "
    "Which number makes the largest exponent zero?",
)
_ONE_SHIFT = (
    "The shift is one number for the whole tensor, so slices far below it vanish.",
    "The maximum has to be taken per slice, along `dim`, keeping that axis.",
)
_FORBIDDEN_GETS_WEIGHT = (
    "Entries of minus infinity get weight: they were replaced by a number that is not far enough "
    "below the others.",
    "exp(-inf) is 0 by itself. Only a maximum of minus infinity needs care, and a sum of 0.",
)
_CLAMPED = (
    "Large scores are clamped to one number before exp, so they become equal.",
    "Don't cut anything: the differences between large scores count as much as those between "
    "small ones. Which number can you subtract from every entry of a slice and keep them?",
)
_LOST_AXIS = (
    "The maxima or the sums lost their axis, so they no longer line up with their slices.",
    "keepdim=True keeps a size-1 axis that broadcasts back, in amax as in sum.",
)
_NO_EXPONENTIAL = (
    "The entries are divided by their sum without going through exp.",
    "Softmax is exp(x) over the sum of exp(x).",
)
_LOGARITHM = (
    "These are logarithms of probabilities.",
    "Divide exponentials; there is no log at the end.",
)
_SMALLEST_WINS = (
    "The order is upside down: the smallest score gets the largest weight.",
    "Which entry must be subtracted from which? Look at the sign in front of x.",
)
_DIVIDED = (
    "The scores are divided by the largest one. Weights depend on how far apart the scores are, "
    "and division changes that.",
    "What can you do to all scores of a slice without changing how far apart they are?",
)
_MEAN_TAKEN = (
    "The mean is subtracted from the scores: those far above it still overflow, and a mean of "
    "minus infinity leaves nothing to compare.",
    "Which number makes the largest exponent zero?",
)
_SMALLEST_TAKEN = (
    "The smallest score is subtracted, so the others stay above zero and exp still overflows.",
    "Which number makes the largest exponent zero?",
)
_BASES = {"two": 2.0, "ten": 10.0}

EXERCISES = by_id(
    Exercise(
        PROBES["stable_softmax"],
        softmax_oracle,
        (
            Mistake("no_shift", *_OVERFLOW, build_softmax(shift=unshifted, guarded=False)),
            Mistake("no_shift_blocked_rows_right", *_OVERFLOW, build_softmax(shift=unshifted)),
            Mistake(
                "no_shift_but_float64",
                "exp of numbers above 709 overflows in float64 as well, and infinity divided by "
                "infinity is NaN.",
                _OVERFLOW[1],
                _in_float64,
            ),
            Mistake(
                "large_weights_set_to_zero",
                "Where scores are large, the largest weights come out as 0: exp overflows to "
                "infinity, infinity / infinity is NaN, and the NaN is replaced by 0.",
                _OVERFLOW[1],
                build_softmax(shift=unshifted, guarded=False, after=torch.nan_to_num),
            ),
            *(
                Mistake(
                    f"epsilon_of_{epsilon:g}",
                    "A small number is added to every sum, so every weight is a little too small.",
                    "Only a sum of zero needs another value. Change that one and leave the other "
                    "sums as they are.",
                    build_softmax(total=with_added(epsilon)),
                )
                for epsilon in (1e-5, 1e-6)
            ),
            Mistake(
                "one_added_to_every_sum",
                "1 is added to every sum, so the weights of a slice sum to less than one.",
                "Only a sum of zero needs another value.",
                build_softmax(total=with_added(1)),
            ),
            Mistake(
                "normalised_over_everything",
                "All entries together sum to one, not each slice.",
                "The sum has to run along `dim` alone, with keepdim=True.",
                build_softmax(total=lambda powers, dim: powers.sum()),
            ),
            Mistake(
                "shift_by_global_maximum",
                *_ONE_SHIFT,
                build_softmax(shift=lambda x, dim: x.max()),
            ),
            Mistake(
                "shift_by_global_maximum_unguarded",
                *_ONE_SHIFT,
                build_softmax(shift=lambda x, dim: x.max(), guarded=False),
            ),
            Mistake(
                "wrong_axis",
                "The last axis is normalised whatever `dim` says.",
                "Pass `dim` on to both the maximum and the sum.",
                build_softmax(axis=-1),
            ),
            Mistake(
                "minus_infinity_as_zero",
                *_FORBIDDEN_GETS_WEIGHT,
                build_softmax(before=infinity_as_zero),
            ),
            Mistake(
                "no_exponential",
                *_NO_EXPONENTIAL,
                lambda x, dim=-1: x / x.sum(dim, keepdim=True),
            ),
            Mistake(
                "sign_reversed",
                *_SMALLEST_WINS,
                build_softmax(before=sign_reversed),
            ),
            Mistake(
                "sum_over_the_last_axis",
                "The sum runs over the last axis whatever `dim` says.",
                "The maximum and the sum must run along the same axis, `dim`.",
                build_softmax(total=lambda powers, dim: powers.sum(-1, keepdim=True)),
            ),
            Mistake(
                "sum_over_the_first_axis",
                "The sum runs over the first axis whatever `dim` says.",
                "The maximum and the sum must run along the same axis, `dim`.",
                build_softmax(total=lambda powers, dim: powers.sum(0, keepdim=True)),
            ),
            Mistake("sum_axis_not_kept", *_LOST_AXIS, build_softmax(total=torch.sum)),
            Mistake(
                "blocked_row_is_nan",
                "A slice that is minus infinity throughout gives NaN: -inf - (-inf) has no value, "
                "and neither has 0 / 0.",
                "Two numbers of such a slice need care: the maximum that you subtract and the sum "
                "that you divide by. Which values would do no harm?",
                build_softmax(guarded=False),
            ),
            Mistake(
                "blocked_row_is_uniform",
                "A slice with nothing allowed still spreads its probability evenly.",
                "A large negative number is not minus infinity: if all entries are equal, softmax "
                "gives each the same share. Set those slices to 0.",
                build_softmax(before=lambda x: x.clamp(min=torch.finfo(x.dtype).min)),
            ),
            Mistake(
                "logarithm_returned",
                *_LOGARITHM,
                build_softmax(after=torch.log),
            ),
            Mistake("log_softmax", *_LOGARITHM, lambda x, dim=-1: _torch_log_softmax(x, dim)),
            Mistake(
                "scores_clamped",
                *_CLAMPED,
                build_softmax(before=lambda x: x.clamp(max=60.0), shift=unshifted),
            ),
            *(
                Mistake(
                    f"scores_clamped_on_both_sides{name}",
                    *_CLAMPED,
                    build_softmax(before=lambda x, e=edge: x.clamp(-e, e), shift=unshifted),
                )
                for name, edge in (("", 60.0), ("_where_exp_ends", 88.0))
            ),
            Mistake(
                "pair_subtracted",
                "`max` with a dim returns a pair, values and indices, and the whole pair is "
                "subtracted.",
                "Take `.values` of the pair; `amax` gives the values alone.",
                build_softmax(shift=pair_of_maxima, guarded=False),
            ),
            Mistake(
                "exp_missing_above_the_line",
                "The numerator is the shifted scores themselves; only the sum uses exp.",
                "The numerator and the sum are made from the same exponentials.",
                build_softmax(above=lambda shifted: shifted),
            ),
            Mistake(
                "shift_below_the_line_missing",
                "The numerator takes exp of the shifted scores, the denominator exp of the scores "
                "as they were.",
                "The numerator and the sum are made from the same exponentials.",
                lambda x, dim=-1: (x - highest(x, dim)).exp() / kept_sum(x.exp(), dim),
            ),
            Mistake(
                "shifted_scores_divided_by_their_sum",
                *_NO_EXPONENTIAL,
                build_softmax(power=lambda shifted: shifted, guarded=False),
            ),
            *(
                Mistake(
                    f"base_{name}",
                    f"These are powers of {base:g}, not powers of e.",
                    "torch.exp, or math.e as the base.",
                    build_softmax(power=lambda shifted, base=base: base**shifted),
                )
                for name, base in _BASES.items()
            ),
            Mistake(
                "weights_rounded",
                "The weights are rounded, so small ones are lost and no gradient flows.",
                "Return what the division gives.",
                build_softmax(after=lambda weights: weights.round(decimals=2)),
            ),
            Mistake(
                "softmax_twice",
                "Softmax is applied to the weights a second time, which brings them closer "
                "together.",
                "Exponentials divided by their sum are the weights already.",
                lambda x, dim=-1: softmax_oracle(softmax_oracle(x, dim), dim),
            ),
            Mistake(
                "divided_by_the_number_of_entries",
                "The exponentials are divided by their mean, so a slice sums to its length.",
                "The denominator is the sum.",
                build_softmax(total=lambda powers, dim: powers.mean(dim, keepdim=True)),
            ),
            Mistake(
                "not_divided",
                "These are the exponentials of the shifted scores, the largest of which is 1. "
                "They are not divided by their sum.",
                "The weights of a slice sum to one.",
                build_softmax(total=lambda powers, dim: torch.ones_like(powers)),
            ),
            *(
                Mistake(
                    f"divided_by_the_largest{name}",
                    *_DIVIDED,
                    lambda x, dim=-1, of=of: _torch_softmax(x / highest(of(x), dim), dim),
                )
                for name, of in (("", torch.clone), ("_size", torch.abs))
            ),
            *(
                Mistake(
                    f"scores_{name}",
                    f"The scores are rescaled to {what} first. Weights depend on how far apart "
                    "the scores are, and rescaling changes that.",
                    _DIVIDED[1],
                    lambda x, dim=-1, change=change: _torch_softmax(change(x, dim), dim),
                )
                for name, what, change in (
                    ("scaled_to_a_range", "a range from 0 to 1", scaled_to_a_range),
                    ("standardised", "a mean of 0 and a standard deviation of 1", standardised),
                )
            ),
            Mistake("shift_by_the_mean", *_MEAN_TAKEN, build_softmax(shift=mean_of_finite)),
            Mistake("shift_by_the_smallest", *_SMALLEST_TAKEN, build_softmax(shift=lowest_finite)),
            Mistake(
                "shift_by_a_mean_of_minus_infinity",
                *_MEAN_TAKEN,
                build_softmax(shift=lambda x, dim: x.mean(dim, keepdim=True), guarded=False),
            ),
            Mistake(
                "shift_by_minus_infinity",
                *_SMALLEST_TAKEN,
                build_softmax(shift=lambda x, dim: x.amin(dim, keepdim=True), guarded=False),
            ),
            Mistake(
                "shift_by_the_largest_size",
                "The number that is subtracted is far above the largest score of some slices, so "
                "every exp in them is 0. The largest absolute value of the whole tensor does "
                "that, and so does a norm.",
                "The maximum has to be taken per slice, along `dim`, with its sign.",
                build_softmax(shift=lambda x, dim: x.masked_fill(x == -torch.inf, 0.0).abs().max()),
            ),
            *(
                Mistake(
                    f"shift_by_the_largest_size_of_each_slice{name}",
                    "The shift is the largest absolute value of each slice. Where it belongs to a "
                    "negative score, it is far above all scores, and every exp is 0.",
                    "The maximum has to be taken with its sign.",
                    build_softmax(shift=size, guarded=guarded),
                )
                for name, size, guarded in (
                    ("", largest_finite_size, True),
                    ("_unguarded", largest_finite_size, False),
                    ("_with_infinity", largest_size, True),
                    ("_with_infinity_unguarded", largest_size, False),
                )
            ),
            Mistake(
                "maximum_over_the_last_axis",
                "The maximum is taken over the last axis whatever `dim` says, so entries of one "
                "slice are shifted by different numbers.",
                "The maximum and the sum must run along the same axis, `dim`.",
                build_softmax(shift=lambda x, dim: highest(x, -1)),
            ),
            Mistake(
                "shift_never_below_zero",
                "The shift is never below zero: in a slice whose scores are all far below it, "
                "every exp is 0.",
                "Subtract the largest score of a slice whatever its sign, so that the largest "
                "exponent is zero.",
                build_softmax(shift=lambda x, dim: highest(x, dim).clamp(min=0)),
            ),
            Mistake(
                "shift_added",
                "The maximum is added to the scores, not subtracted from them.",
                "Which sign makes the largest exponent zero?",
                build_softmax(shift=lambda x, dim: -highest(x, dim), guarded=False),
            ),
            Mistake(
                "minus_infinity_as_a_thousand",
                *_FORBIDDEN_GETS_WEIGHT,
                build_softmax(before=lambda x: x.nan_to_num(neginf=-1000.0)),
            ),
            Mistake(
                "minus_infinity_as_a_million",
                *_FORBIDDEN_GETS_WEIGHT,
                build_softmax(before=lambda x: x.nan_to_num(neginf=-1e6)),
            ),
            Mistake(
                "scores_cut_from_below",
                "Scores far below zero are clamped to one number, so they become equal, and minus "
                "infinity gets weight too.",
                "exp(-inf) is 0 by itself. Only a maximum of minus infinity needs care.",
                build_softmax(before=lambda x: x.clamp(min=-1000.0)),
            ),
        ),
        (Invariant("Each slice must sum to one (to zero where all is blocked).", _sums_to_one),),
    ),
)
