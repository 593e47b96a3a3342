"""Sinusoids, a prediction and a repair about them: right answers and common mistakes."""

import torch
from torch import Tensor

from utils.checks.framework.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.framework.observation import Observation
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.lessons.positional_encoding.table_mistakes import TABLE
from utils.checks.lessons.positional_encoding.waves import encoding_variant
from utils.reference.positions import rates, reference_encoding, turns


def _fastest() -> str:
    """Measure where the column is that changes most from one position to the next."""
    steps = reference_encoding(1000, 64).diff(dim=0).abs().mean(0)
    if steps.max() < 1.1 * steps.min():
        return "all alike"
    pair = int(steps.argmax()) // 2
    return {0: "first", 31: "last"}.get(pair, "middle")


def _short_positions(max_len: int, d_model: int) -> Tensor:
    if d_model % 2:
        raise ValueError(f"d_model must be even, not {d_model}")
    circles = turns(torch.arange(max_len).half(), rates(d_model))
    return torch.view_as_real(circles).flip(-1).flatten(1).float()


def _pairs_keep_length(inputs: Inputs, seen: Observation) -> bool:
    table = seen.values.get("encoding")
    if table is None:
        return True
    squares = torch.as_tensor(table).square()
    squares = squares.reshape(len(squares), -1, 2).sum(-1)
    return torch.allclose(squares, torch.ones_like(squares), atol=1e-3)


_UNIT_LAW = Invariant(
    "sin and cos of one pair share an angle, so their squares must sum to one.", _pairs_keep_length
)

_ONE_CHANGE = (
    "Do one of the two: compute a frequency for each pair, or take every other one of D "
    "frequencies. Sine and cosine of a pair use the same one."
)


EXERCISES = by_id(
    Exercise(
        PROBES["predict_fastest_column"],
        _fastest,
        (
            Mistake(
                "the_last",
                "Many texts do say that the first columns vary slowly and the last ones fast. "
                "Check it.",
                "Put the number of the first pair, 0, and of the last pair into the exponent. "
                "Which of the two frequencies is larger?",
                "last",
            ),
            Mistake(
                "the_middle",
                "The frequencies change in one direction only, so the fastest pair is at one of "
                "the ends.",
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
                "positions_in_float16",
                "Positions are counted in float16, which lacks most whole numbers above 2,048.",
                "torch.arange counts exactly; leave its number type until the angles are made.",
                _short_positions,
            ),
            Mistake(
                "sign_of_the_exponent",
                "The exponent has lost its minus sign: from the second pair on, frequencies grow "
                "to thousands.",
                "The first pair turns by one radian per position. Should the others turn faster, "
                "or slower?",
                encoding_variant(exponent=2.0),
            ),
            *TABLE,
            Mistake(
                "angles_negative",
                "The angles are negative, so the sines have the wrong sign: the minus belongs to "
                "the exponent alone.",
                "At position 1 the first sine is that of 1 radian, above zero.",
                encoding_variant(sine=-1.0),
            ),
            Mistake(
                "odd_d_model_accepted",
                "An odd d_model goes through: no ValueError is raised.",
                "raise ValueError(...) as the first thing, with the number in its message.",
                encoding_variant(odd="accepted"),
            ),
            Mistake(
                "odd_d_model_fails_later",
                "An odd d_model causes an error further down, with a message that helps nobody.",
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
                "Sine and cosine of a pair still turn at different speeds, so a pair does not "
                "move like the hand of a clock.",
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
                "With a minus sign in front of the whole angle, the pairs turn the other way, "
                "just as fast.",
                "It is the exponent's sign that decides how fast, not the angle's.",
                encoding_variant(exponent=2.0, sine=-1.0),
            ),
            *(m for m in TABLE if m.name != "pairs_do_not_share_a_frequency"),  # as released
            Mistake(
                "angles_exchanged",
                "Sine and cosine have swapped their angles: they still turn at different speeds.",
                "One angle for both: which of the two columns has the frequency that the formula "
                "asks for?",
                encoding_variant(sine_step=0.5),
            ),
            Mistake(
                "brought_to_length_one",
                "Each pair has length one now, but its sine and cosine still have two angles.",
                "The squares sum to one by themselves where both angles are the same.",
                encoding_variant(cosine_step=0.5, unit=True),
            ),
            *(
                Mistake(name, message, _ONE_CHANGE, encoding_variant(taken=taken, layout=layout))
                for name, message, taken, layout in (
                    (
                        "every_other_frequency",
                        "The frequencies are those of the pairs now, but a slice still takes "
                        "every other one: half of the columns are missing.",
                        "every other",
                        "pairs",
                    ),
                    (
                        "every_other_frequency_apart",
                        "The frequencies are those of the pairs now, but the slices still take "
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
                        "a_half_for_the_cosines",
                        "The cosines take the first half of the angles and the sines every other "
                        "one: only the first pair shares one.",
                        "half and every other",
                        "pairs",
                    ),
                    (
                        "mean_of_two_frequencies",
                        "The pairs share an angle now, but its frequency is the mean of those of "
                        "two columns.",
                        "mean",
                        "pairs",
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
