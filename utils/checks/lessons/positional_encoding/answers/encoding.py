"""Sinusoids, a prediction and a repair about them: right answers and common mistakes."""

import math

import torch

from utils.checks.framework.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.framework.observation import Observation
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.lessons.positional_encoding.waves import encoding_variant
from utils.reference.positions import reference_encoding


def _fastest() -> str:
    """Measure where the column is that changes most from one position to the next."""
    steps = reference_encoding(1000, 64).diff(dim=0).abs().mean(0)
    if steps.max() < 1.1 * steps.min():
        return "all alike"
    pair = int(steps.argmax()) // 2
    return {0: "first", 31: "last"}.get(pair, "middle")


def _pairs_keep_length(inputs: Inputs, seen: Observation) -> bool:
    table = seen.values.get("encoding")
    if table is None:
        return True
    squares = torch.as_tensor(table).square()
    squares = squares.reshape(len(squares), -1, 2).sum(-1)
    return torch.allclose(squares, torch.ones_like(squares), atol=1e-3)


_UNIT_LAW = Invariant(
    "sin and cos of one pair share an angle, so that their squares sum to one.", _pairs_keep_length
)

# Mistakes that the exercise that writes the table shares with the one that repairs it. Likely ones
# stand first, because not all pairs are tried.
_TABLE = (
    Mistake(
        "sine_and_cosine_swapped",
        "Sines and cosines have changed places.",
        "At position 0, the sine is 0 and the cosine 1. Which of the two does column 0 hold?",
        encoding_variant(layout="swapped"),
    ),
    Mistake(
        "two_halves",
        "All sines come first, then all cosines.",
        "Nothing is lost that way, but the formula asks for sin on even columns and cos on odd "
        "ones: which axis do cat and stack take?",
        encoding_variant(layout="halves"),
    ),
    Mistake(
        "index_doubled_twice",
        "The exponent is twice as large as it should be.",
        "In the formula 2i is the number of the even column. A range with step 2 gives 2i already.",
        encoding_variant(exponent=-4.0),
    ),
    Mistake(
        "exponent_halved",
        "The exponent is half as large as it should be, or the base is 100.",
        "In the formula it is 2i / D, where i counts pairs of columns, and the base is 10,000.",
        encoding_variant(exponent=-1.0),
    ),
    Mistake(
        "counted_from_one",
        "The first row belongs to position 1.",
        "The first position is 0: its row is 0, 1, 0, 1 and so on.",
        encoding_variant(first=1.0),
    ),
    Mistake(
        "positions_over_max_len",
        "Positions are divided by max_len, so a word's row changes with the length of the table.",
        "The angle is p times the frequency, with p = 0, 1, 2, ... as it is.",
        encoding_variant(over_length=True),
    ),
    Mistake(
        "base_of_a_thousand",
        "The base of the frequencies is 1,000, not 10,000.",
        "Count the zeros.",
        encoding_variant(base=1000.0),
    ),
    Mistake(
        "base_by_the_wrong_logarithm",
        "The base of the frequencies is about 55, not 10,000.",
        "exp(log(b)) is b for the natural logarithm alone: log10 and log2 are others.",
        encoding_variant(base=math.exp(4)),
    ),
    Mistake(
        "power_divided_by_d_model",
        "10,000 is raised to the index first, and that is divided by D.",
        "The power binds more strongly than the division: where do brackets belong?",
        encoding_variant(spacing="power divided"),
    ),
    Mistake(
        "power_divided_in_the_denominator",
        "10,000 is raised to the index first, and that is divided by D before it divides p.",
        "The power binds more strongly than the division: where do brackets belong?",
        encoding_variant(spacing="width divided"),
    ),
    *(
        Mistake(
            name,
            "10,000 is not raised to the whole exponent: the index is a factor beside it.",
            "The exponent is -2i / D, all of it: look at ** and at the brackets.",
            encoding_variant(spacing=spacing),
        )
        for name, spacing in (
            ("index_behind_the_power", "index behind"),
            ("index_below_with_the_power", "index below"),
        )
    ),
    Mistake(
        "exp_of_the_index_alone",
        "exp is taken of the index alone, and the logarithm is multiplied with that.",
        "exp(i * log(b)) is b to the power i: where does the bracket of exp end?",
        encoding_variant(spacing="exp of the index"),
    ),
    Mistake(
        "position_to_the_power",
        "The position is raised to the frequency.",
        "The angle is p times the frequency: look for a ** that should be a *.",
        encoding_variant(meets="power"),
    ),
    Mistake(
        "sine_times_frequency",
        "The sine and the cosine of the position are multiplied by the frequency: all hands turn "
        "equally fast, and the last ones are short.",
        "The frequency belongs inside: sin(p w), not w sin(p).",
        encoding_variant(meets="height"),
    ),
    *(
        Mistake(
            name,
            message,
            "The angle is p times the frequency, in radians.",
            encoding_variant(sine=factor),
        )
        for name, message, factor in (
            ("angles_in_turns", "The angles are 2 pi times what they should be.", 2 * math.pi),
            (
                "angles_in_degrees",
                "The angles are turned from degrees into radians, and they are in radians already.",
                math.pi / 180,
            ),
        )
    ),
    Mistake(
        "exponent_floored",
        "All pairs turn equally fast: the exponent is 0 everywhere.",
        "Is there a // that should be a /? An integer division by d_model floors every index to 0.",
        encoding_variant(spacing="one"),
    ),
    Mistake(
        "exponent_floored_to_minus_one",
        "All pairs after the first turn equally slowly: their exponent is -1.",
        "Is there a // that should be a /? An integer division rounds -2i / D down to -1.",
        encoding_variant(spacing="floored"),
    ),
    Mistake(
        "divided_by_one_pair_less",
        "The frequencies run down to 1/10000 itself: i is divided by D/2 - 1.",
        "Some programs do that, and it works too, but here the exponent is -2i / D: the "
        "last frequency stays a little above 1/10000.",
        encoding_variant(spacing="to the base"),
    ),
    Mistake(
        "pairs_do_not_share_a_frequency",
        "Every column has a frequency of its own, so a sine and the cosine beside it no "
        "longer belong together.",
        "Columns 2i and 2i + 1 have the same angle. What does your exponent hold for the odd ones?",
        encoding_variant(cosine_step=0.5),
    ),
    Mistake(
        "column_number_doubled",
        "The exponent takes the number of the column for i, so every column has a frequency of "
        "its own.",
        "i counts pairs: columns 2i and 2i + 1 have the same angle.",
        encoding_variant(exponent=-4.0, cosine_step=0.5),
    ),
    Mistake(
        "sines_everywhere",
        "Odd columns hold sines, too.",
        "Look at the second line of the formula.",
        encoding_variant(layout="sines"),
    ),
    Mistake(
        "cosines_everywhere",
        "Even columns hold cosines, too.",
        "Look at the first line of the formula.",
        encoding_variant(layout="cosines"),
    ),
    Mistake(
        "transposed",
        "Rows and columns have changed places.",
        "A row for each position, a column for each dimension.",
        encoding_variant(form="transposed"),
    ),
    Mistake(
        "an_axis_for_the_batch",
        "The table has an axis too many.",
        "(max_len, d_model): broadcasting over the batch comes later.",
        encoding_variant(form="batched"),
    ),
)

_ONE_CHANGE = (
    "One of the two is enough: a frequency for each pair, or every other one of D frequencies. "
    "Sine and cosine of a pair take the same."
)


EXERCISES = by_id(
    Exercise(
        PROBES["predict_fastest_column"],
        _fastest,
        (
            Mistake(
                "the_last",
                "Many texts say so: that the first columns vary slowly and the last ones fast.",
                "Put the number of the first pair, 0, and of the last pair into the exponent. "
                "Which of the two frequencies is larger?",
                "last",
            ),
            Mistake(
                "the_middle",
                "The frequencies change in one direction only: the middle is nowhere extreme.",
                "Put the first, the middle and the last pair's number into the exponent.",
                "middle",
            ),
            Mistake(
                "all_alike",
                "The frequency depends on the number of the column.",
                "Put the first and the last pair's number into the exponent.",
                "all alike",
            ),
        ),
    ),
    Exercise(
        PROBES["sinusoidal_encoding"],
        reference_encoding,
        (
            Mistake(
                "sign_of_the_exponent",
                "The exponent has lost its minus sign: from the second pair on, frequencies grow "
                "to thousands.",
                "The first pair turns by one radian per position. Should the others turn faster, "
                "or slower?",
                encoding_variant(exponent=2.0),
            ),
            *_TABLE,
            Mistake(
                "angles_negative",
                "The angles have the minus sign that belongs to the exponent, or one more: sines "
                "have the wrong sign.",
                "At position 1 the first sine is that of 1 radian, above zero.",
                encoding_variant(sine=-1.0),
            ),
            Mistake(
                "odd_d_model_accepted",
                "An odd d_model goes through, and the last pair lacks its cosine.",
                "raise ValueError(...) as the first thing, with the number in its message.",
                encoding_variant(odd="accepted"),
            ),
            Mistake(
                "odd_d_model_fails_later",
                "An odd d_model runs into an error further down, whose message helps nobody.",
                "raise ValueError(...) as the first thing, with the number in its message.",
                encoding_variant(odd="RuntimeError"),
            ),
            Mistake(
                "odd_d_model_asserted",
                "An odd d_model raises AssertionError.",
                "The docstring asks for ValueError: assertions vanish when Python runs with -O.",
                encoding_variant(odd="AssertionError"),
            ),
        ),
        (_UNIT_LAW,),
        tolerance=1e-4,
    ),
    Exercise(
        PROBES["repaired_encoding"],
        reference_encoding,
        (
            Mistake(
                "still_broken",
                "Sine and cosine of a pair still turn at different speeds, so a pair is no hand of "
                "a clock.",
                "Square the two columns of a pair and add them up: what must come out, and what "
                "does?",
                encoding_variant(cosine_step=0.5),
            ),
            Mistake(
                "sines_take_the_cosines_angles",
                "The pairs share an angle now, but it is the odd column's.",
                "Pair i turns with the frequency of column 2i: the first by one radian for each "
                "position.",
                encoding_variant(sine_step=0.5, cosine_step=0.5),
            ),
            Mistake(
                "minus_sign_lost",
                "The exponent has lost its minus sign: all columns after the first two turn too "
                "fast.",
                "Print the frequencies. Which one should be 1, and should the others be above it?",
                encoding_variant(exponent=2.0),
            ),
            Mistake(
                "columns_turned_round",
                "The columns are in reverse order, and their frequencies as wrong as before.",
                "Print the frequencies: they still go up into the thousands.",
                encoding_variant(exponent=2.0, flipped=True),
            ),
            Mistake(
                "minus_on_the_angle",
                "A minus sign before the whole angle turns the other way, just as fast.",
                "It is the exponent's sign that decides how fast, not the angle's.",
                encoding_variant(exponent=2.0, sine=-1.0),
            ),
            *(m for m in _TABLE if m.name != "pairs_do_not_share_a_frequency"),  # as released
            Mistake(
                "angles_exchanged",
                "Sine and cosine have exchanged their angles: they still turn at different speeds.",
                "One angle for both: which of the two columns has the frequency that the formula "
                "asks for?",
                encoding_variant(sine_step=0.5),
            ),
            *(
                Mistake(name, message, _ONE_CHANGE, encoding_variant(taken=taken, layout=layout))
                for name, message, taken, layout in (
                    (
                        "every_other_frequency",
                        "The frequencies are those of the pairs now, and a slice still takes every "
                        "other one: half of the columns are missing.",
                        "every other",
                        "pairs",
                    ),
                    (
                        "every_other_frequency_apart",
                        "The frequencies are those of the pairs now, and the slices still take "
                        "every other one: half of the columns are missing, and a sine and the "
                        "cosine beside it have different angles.",
                        "every other, apart",
                        "pairs",
                    ),
                    (
                        "a_half_for_each",
                        "The sines take the first half of the angles and the cosines the second: "
                        "no pair shares one.",
                        "halves",
                        "pairs",
                    ),
                    (
                        "a_half_for_each_side_by_side",
                        "The first half of the columns holds the sines and the second the cosines, "
                        "each of other angles.",
                        "halves",
                        "halves",
                    ),
                    (
                        "all_angles_for_both",
                        "Sines and cosines are taken of all D angles: that makes 2 D columns.",
                        "all",
                        "pairs",
                    ),
                )
            ),
        ),
        (_UNIT_LAW,),
        tolerance=1e-4,
    ),
)
