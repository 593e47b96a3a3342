"""The learning rate: right answers and common mistakes."""

import math
from collections.abc import Callable
from typing import Any

import torch

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES

Rate = Callable[[int, int, int], float]


def rate_oracle(step: int, d_model: int, warmup: int) -> float:
    """Compute the rate from logarithms.

    Raises:
        ValueError: step is 0, which has no logarithm.

    """
    falling, rising = -math.log(step) / 2, math.log(step) - 1.5 * math.log(warmup)
    return math.exp(min(falling, rising) - math.log(d_model) / 2)


@by_choices
def _rate(
    choose: Callable[[float, float], float] = min,
    *,
    falling: float = -0.5,
    rising: float = -1.5,
    width: float = -0.5,
    late: int = 0,
    peak: float = 0.0,
    together: bool = False,
    refuses: bool = True,
    raises: bool = False,
    first: int = 1,
    factor: float = 1.0,
    gives: Callable[[float], Any] = float,
) -> Callable[[int, int, int], Any]:
    """Build a rate with other exponents, another choice of the two terms, or a shifted step.

    Steps before the `first` are refused, or (`raises`) taken for step 1. A `peak` other than 0 is
    the exponent of a factor warmup that nobody asked for, and `factor` is another such factor.
    """

    def rate(step: int, d_model: int, warmup: int) -> Any:
        if step < first and refuses and not raises:
            raise ValueError(f"steps count from 1, and this is step {step}")
        now = (max(step, 1) if raises else step) + late
        rises = (now * warmup) ** rising if together else now * warmup**rising
        return gives(factor * d_model**width * warmup**peak * choose(now**falling, rises))

    return rate


def _width_inside(step: int, d_model: int, warmup: int) -> float:
    _rate()(step, d_model, warmup)  # refuses step 0
    return float(min(d_model**-0.5 * step**-0.5, step * warmup**-1.5))


def _level(step: int, d_model: int, warmup: int) -> float:
    return float(_rate()(min(step, warmup), d_model, warmup))


def _falls_as_one_over(step: int, d_model: int, warmup: int) -> float:
    return _level(step, d_model, warmup) * min(1.0, warmup / max(step, 1))


def _exchanged(step: int, d_model: int, warmup: int) -> float:
    _rate()(step, d_model, warmup)  # refuses step 0
    return float(d_model**-0.5 * min(step**-0.5, warmup * step**-1.5))


def _whole_warm_ups(step: int, d_model: int, warmup: int) -> float:
    _rate()(step, d_model, warmup)  # refuses step 0
    return float(d_model**-0.5 * min(step**-0.5, step // warmup * warmup**-0.5))


def _falls_anew(first: int) -> Rate:
    """Build a rate whose fall begins with step `first` of a new count."""

    def rate(step: int, d_model: int, warmup: int) -> float:
        since = step - warmup - 1 + first
        rises = step <= warmup
        return float(_rate()(step, d_model, warmup) if rises else d_model**-0.5 * since**-0.5)

    return rate


def _only_zero_refused(step: int, d_model: int, warmup: int) -> Any:
    if step == 0:
        raise ValueError("steps count from 1")
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def _negative_accepted(step: int, d_model: int, warmup: int) -> Any:
    return _only_zero_refused(abs(step), d_model, warmup)


NOAM = Exercise(
    PROBES["noam_rate"],
    rate_oracle,
    (
        Mistake(
            "larger_of_the_two",
            "The larger of the two terms is taken: the rate falls at first, and later grows "
            "without end.",
            "Put in step = 1: which of the terms is small?",
            _rate(max),
        ),
        Mistake(
            "step_and_warmup_exchanged",
            "In the second term step and warmup have changed places.",
            "It rises in a straight line: step is the factor, and warmup has the exponent.",
            _exchanged,
        ),
        Mistake(
            "whole_warm_ups_counted",
            "`//` counts whole warm-ups: up to step `warmup` there is none, and the rate is 0.",
            "Divide by `/`, or raise warmup to -1.5.",
            _whole_warm_ups,
        ),
        Mistake(
            "no_warm_up",
            "There is no warm-up: the rate falls from the first step on.",
            "Up to step `warmup` the second term is the smaller one.",
            _rate(lambda falling, rising: falling),
        ),
        Mistake(
            "rate_of_the_step_before",
            "The rate is that of the step before.",
            "Steps count from 1 here: use `step` as it is.",
            _rate(late=-1),
        ),
        Mistake(
            "whole_division",
            "`//` drops everything after the decimal point, so the rate is 0.",
            "Divide with `/`, or raise d_model to -0.5.",
            _rate(lambda falling, rising: 0.0),
        ),
        Mistake(
            "never_falls",
            "The rate rises for ever.",
            "From step `warmup` on the first term is the smaller one.",
            _rate(lambda falling, rising: rising),
        ),
        Mistake(
            "stays_level",
            "After the warm-up the rate stays where it is and never falls.",
            "From step `warmup` on it falls with the root of the step.",
            _level,
        ),
        Mistake(
            "peak_without_warmup",
            "The peak is d_model to the power -0.5: a factor of warmup to that power is missing.",
            "Put in step = warmup: both terms are then warmup to the power -0.5.",
            _rate(peak=0.5),
        ),
        Mistake(
            "peak_of_one",
            "The rate rises to 1 and falls from there, whatever d_model is: its shape is right, "
            "its height is not.",
            "Put in step = warmup: the rate there is (d_model * warmup) to the power -0.5.",
            _rate(peak=0.5, width=0.0),
        ),
        Mistake(
            "twice_as_large",
            "Everything is twice as large: some programs put a factor of 2 in front, the formula "
            "here has none.",
            "Begin with d_model to the power -0.5.",
            _rate(factor=2.0),
        ),
        *(
            Mistake(
                f"falls_anew_after_the_warm_up{name}",
                "After the warm-up the steps are counted from the start again, so the rate jumps "
                "up before it falls.",
                "The first term has the step itself, counted from the beginning of training.",
                _falls_anew(first),
            )
            for name, first in (("", 1), ("_from_two", 2))
        ),
        Mistake(
            "exponents_floored",
            "The exponents are whole numbers, -1 and -2: // rounds -0.5 and -1.5 down.",
            "Write -0.5 and -1.5, or divide with `/`.",
            _rate(falling=-1.0, rising=-2.0, width=-1.0),
        ),
        *(
            Mistake(
                f"power_taken_apart_{name}",
                "Python reads `x ** -1 / 2` as x to the power -1, divided by 2.",
                "Write -0.5, or put the exponent in brackets.",
                _rate(factor=factor, width=-1.0, falling=falling, rising=rising),
            )
            for name, factor, falling, rising in (
                ("in_the_width", 0.5, -0.5, -1.5),
                ("everywhere", 0.25, -1.0, -3.0),
            )
        ),
        *(
            Mistake(
                f"power_taken_apart_{name}",
                "Python reads `x ** -1 / 2` as x to the power -1, divided by 2.",
                "Write -0.5 and -1.5, or put the exponents in brackets.",
                _rate(choose, falling=falling, rising=rising),
            )
            for name, choose, falling, rising in (
                ("in_the_step", lambda falls, rises: min(falls / 2, rises), -1.0, -1.5),
                ("in_the_warm_up", lambda falls, rises: min(falls, rises / 2), -0.5, -3.0),
                ("in_both_terms", lambda falls, rises: min(falls, rises) / 2, -1.0, -3.0),
            )
        ),
        Mistake(
            "level_without_warmup",
            "The rate rises to d_model to the power -0.5 and never falls: that is too large by a "
            "factor sqrt(warmup), and the fall is missing.",
            "Put in step = warmup: both terms are then warmup to the power -0.5.",
            _rate(falling=0.0, rising=-1.0),
        ),
        Mistake(
            "warmup_to_the_half",
            "warmup has the exponent -0.5; the two terms no longer meet at step `warmup`.",
            "At step = warmup both terms must be equal.",
            _rate(rising=-0.5),
        ),
        Mistake(
            "step_and_warmup_raised_together",
            "In the second term step and warmup are multiplied first and raised to -1.5 together.",
            "A power applies only to what comes right before it: warmup alone has the exponent "
            "-1.5.",
            _rate(together=True),
        ),
        Mistake(
            "warmup_without_its_half",
            "warmup has the exponent -1; the two terms no longer meet at step `warmup`.",
            "At step = warmup both terms must be equal.",
            _rate(rising=-1.0),
        ),
        Mistake(
            "a_tensor",
            "The result is a tensor.",
            "Powers of plain numbers need no torch: return a float.",
            _rate(gives=torch.tensor),
        ),
        Mistake(
            "falls_without_root",
            "The rate falls as 1 / step, not as 1 / sqrt(step).",
            "At step = warmup both terms must be equal.",
            _rate(falling=-1.0),
        ),
        Mistake(
            "falls_without_root_from_the_peak",
            "After the warm-up the rate falls as 1 / step, not as 1 / sqrt(step).",
            "At four times `warmup` it should be half of what it was, not a quarter.",
            _falls_as_one_over,
        ),
        Mistake(
            "width_left_out",
            "d_model is not used.",
            "The wider the model, the smaller the rate.",
            _rate(width=0.0),
        ),
        Mistake(
            "width_on_the_first_term_only",
            "Only the first of the two terms is multiplied by d_model's power.",
            "The factor comes before min(...): it belongs to both.",
            _width_inside,
        ),
        Mistake(
            "multiplied_by_the_width",
            "The rate grows with the root of d_model.",
            "The wider the model, the smaller the rate: look at the exponent's sign.",
            _rate(width=0.5),
        ),
        Mistake(
            "divided_by_the_width",
            "The rate is divided by d_model, not by its root.",
            "The exponent of d_model is -0.5.",
            _rate(width=-1.0),
        ),
        Mistake(
            "one_step_ahead",
            "The rate is that of the next step.",
            "Steps count from 1 already.",
            _rate(late=1),
        ),
        Mistake(
            "width_and_warmup_swapped",
            "d_model and warmup are swapped.",
            "The arguments are (step, d_model, warmup).",
            lambda step, d_model, warmup: rate_oracle(step, warmup, d_model),
        ),
        Mistake(
            "only_step_zero_refused",
            "Only step 0 is refused; a negative one gets as far as its root, which is not a real "
            "number.",
            "Raise ValueError where step is below 1.",
            _only_zero_refused,
        ),
        Mistake(
            "negative_step_accepted",
            "Only step 0 is refused; a negative one still gets a rate.",
            "Raise ValueError where step is below 1.",
            _negative_accepted,
        ),
        Mistake(
            "step_zero_accepted",
            "Step 0 gets a rate, so a count that begins at 0 goes unnoticed.",
            "Raise ValueError where step is below 1.",
            lambda step, *rest: rate_oracle(step, *rest) if step else 0.0,
        ),
        Mistake(
            "steps_below_one_taken_for_one",
            "Steps below 1 get the rate of step 1, so a count that begins at 0 goes unnoticed.",
            "Raise ValueError where step is below 1.",
            _rate(raises=True),
        ),
        Mistake(
            "step_one_refused",
            "Step 1 is refused, but it is the first step.",
            "Raise ValueError where step is below 1.",
            _rate(first=2),
        ),
        Mistake(
            "step_zero_divides",
            "At step 0 the formula divides by zero; the message helps nobody.",
            "Raise ValueError where step is below 1, and say so in its message.",
            _rate(refuses=False),
        ),
    ),
)

EXERCISES = by_id(NOAM)
