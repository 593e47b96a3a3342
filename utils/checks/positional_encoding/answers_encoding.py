"""Sinusoids, the prediction and the repair about them, and the matrix that shifts them."""

from typing import Any

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake
from utils.checks.observation import Observation
from utils.checks.positional_encoding.probes import PROBES
from utils.checks.positional_encoding.reference import (
    Rates,
    rates,
    reference_encoding,
    reference_shift,
)
from utils.checks.positional_encoding.variants import encoding_variant, unpaired_encoding

_PROBES = {probe.exercise: probe for probe in PROBES}


def _fastest() -> str:
    """Where the column stands that changes most from one position to the next, measured."""
    steps = reference_encoding(1000, 64).diff(dim=0).abs().mean(0)
    if steps.max() < 1.1 * steps.min():
        return "all alike"
    pair = int(steps.argmax()) // 2
    return {0: "first", 31: "last"}.get(pair, "middle")


def _powers(exponent: float) -> Rates:
    """Rates 10000^(exponent * i / D) for pair i; the right ones have an exponent of -2."""
    return lambda width: 10000.0 ** (exponent * torch.arange(width // 2).double() / width)


def _down_to_the_base(width: int) -> Tensor:
    """Rates from 1 down to 1/10000 itself, as some programs space them."""
    pairs = width // 2
    return 10000.0 ** -(torch.arange(pairs).double() / max(pairs - 1, 1))


def _growing(width: int) -> Tensor:
    return 1 / rates(width)


def _all_one(width: int) -> Tensor:
    return torch.ones_like(rates(width))


def _pairs_keep_length(inputs: Inputs, seen: Observation) -> bool:
    table = seen.values.get("encoding")
    if table is None:
        return True
    squares = torch.as_tensor(table).square()
    squares = squares.reshape(len(squares), -1, 2).sum(-1)
    return torch.allclose(squares, torch.ones_like(squares), atol=1e-3)


def _moves_encodings(inputs: Inputs, seen: Observation) -> bool:
    start, offset = 50, inputs["offset"]
    table = reference_encoding(start + abs(offset) + 10, inputs["d_model"])
    moved = table[start : start + 5] @ torch.as_tensor(seen.values["matrix"]).T
    return torch.allclose(moved, table[start + offset : start + offset + 5], atol=1e-3)


_UNIT_LAW = Invariant(
    "sin and cos of one pair share an angle, so that their squares sum to one.", _pairs_keep_length
)
_SHIFT_LAW = Invariant("M @ PE[p] must be PE[p + offset].", _moves_encodings)

# Each wrong way once, for the exercise that writes the encoding and the one that repairs it.
_SIGN = (
    "sign_of_the_exponent",
    "The exponent has lost its minus sign: from the second pair on, frequencies grow to thousands.",
    "The first pair turns by one radian per position. Should the others turn faster, or slower?",
    encoding_variant(angle_per_position=_growing),
)
_SWAPPED = (
    "sine_and_cosine_swapped",
    "Sines and cosines have changed places.",
    "At position 0, the sine is 0 and the cosine 1. Which of the two does column 0 hold?",
    encoding_variant(layout="swapped"),
)
_FLOORED = (
    "exponent_floored",
    "All pairs turn equally fast: the exponent is 0 everywhere.",
    "Is there a // that should be a /? An integer division by d_model floors every index to 0.",
    encoding_variant(angle_per_position=_all_one),
)
_TWICE = (
    "index_doubled_twice",
    "The exponent is twice as large as it should be.",
    "In the formula 2i is the number of the even column. A range with step 2 gives 2i already.",
    encoding_variant(angle_per_position=_powers(-4)),
)


def _shift_variant(angle_per_position: Rates = rates, *, layout: str = "pairs") -> Any:
    def shift(offset: int, d_model: int) -> Tensor:
        angles = offset * angle_per_position(d_model)
        cos, sin = angles.cos().float(), angles.sin().float()
        if layout == "halves":
            top, bottom = torch.diag(cos), torch.diag(sin)
            return torch.cat([torch.cat([top, bottom], 1), torch.cat([-bottom, top], 1)])
        blocks = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], -2)
        if layout == "both plus":
            blocks = blocks * torch.tensor([[1.0, 1.0], [-1.0, 1.0]])
        matrix: Tensor = torch.block_diag(*blocks)  # type: ignore[no-untyped-call]
        return matrix

    return shift


def _cosines_alone(offset: int, d_model: int) -> Tensor:
    return torch.diag((offset * rates(d_model)).cos().repeat_interleave(2)).float()


ENCODINGS = (
    Exercise(
        _PROBES["predict_fastest_column"],
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
        _PROBES["sinusoidal_encoding"],
        reference_encoding,
        (
            Mistake(*_SIGN),
            Mistake(*_SWAPPED),
            Mistake(*_FLOORED),
            Mistake(*_TWICE),
            Mistake(
                "exponent_halved",
                "The exponent is half as large as it should be.",
                "In the formula it is 2i / D, where i counts pairs of columns.",
                encoding_variant(angle_per_position=_powers(-1)),
            ),
            Mistake(
                "divided_by_one_pair_less",
                "The frequencies run down to 1/10000 itself: i is divided by D/2 - 1.",
                "Some programs do that, and it works too, but here the exponent is -2i / D: the "
                "last frequency stays a little above 1/10000.",
                encoding_variant(angle_per_position=_down_to_the_base),
            ),
            Mistake(
                "pairs_do_not_share_a_frequency",
                "Every column has a frequency of its own, so a sine and the cosine beside it no "
                "longer belong together.",
                "Columns 2i and 2i + 1 have the same angle. What does your exponent hold for the "
                "odd ones?",
                unpaired_encoding,
            ),
            Mistake(
                "two_halves",
                "All sines come first, then all cosines.",
                "Nothing is lost that way, but the formula asks for sin on even columns and cos on "
                "odd ones.",
                encoding_variant(layout="halves"),
            ),
            Mistake(
                "sines_everywhere",
                "Odd columns hold sines, too.",
                "Look at the second line of the formula.",
                encoding_variant(layout="sines"),
            ),
            Mistake(
                "counted_from_one",
                "The first row belongs to position 1.",
                "The first position is 0: its row is 0, 1, 0, 1 and so on.",
                encoding_variant(first=1.0),
            ),
            Mistake(
                "transposed",
                "Rows and columns have changed places.",
                "A row for each position, a column for each dimension.",
                encoding_variant(layout="transposed"),
            ),
            Mistake(
                "an_axis_for_the_batch",
                "The table has an axis too many.",
                "(max_len, d_model): broadcasting over the batch comes later.",
                encoding_variant(layout="batched"),
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
        _PROBES["repaired_encoding"],
        reference_encoding,
        (
            Mistake(
                "still_broken",
                "The picture would still look like noise: all columns after the first two turn too "
                "fast.",
                "Print the frequencies. Which one should be 1, and should the others be above it?",
                encoding_variant(angle_per_position=_growing),
            ),
            Mistake(
                "columns_turned_round",
                "The columns are in reverse order, and their frequencies as wrong as before.",
                "Print the frequencies: they still go up into the thousands.",
                encoding_variant(angle_per_position=_growing, flipped=True),
            ),
            Mistake(
                "minus_on_the_angle",
                "A minus sign before the whole angle turns the other way, just as fast.",
                "It is the exponent's sign that decides how fast, not the angle's.",
                encoding_variant(angle_per_position=lambda width: -_growing(width)),
            ),
            Mistake(*_SWAPPED),
            Mistake(*_FLOORED),
            Mistake(*_TWICE),
        ),
        (_UNIT_LAW,),
        tolerance=1e-4,
    ),
    Exercise(
        _PROBES["shift_matrix"],
        reference_shift,
        (
            Mistake(
                "turns_backwards",
                "The matrix goes the other way: M @ PE[p] is PE[p - offset].",
                "In a pair the sine stands first, the cosine second. Write down sin(a + b) and "
                "cos(a + b), and read off where the minus sign belongs.",
                lambda offset, d_model: reference_shift(-offset, d_model),
            ),
            Mistake(
                "one_frequency",
                "All pairs are turned by the same angle.",
                "Pair i turns by its own frequency times the offset.",
                _shift_variant(_all_one),
            ),
            Mistake(
                "sign_of_the_exponent",
                "The exponent has lost its minus sign.",
                "These must be the frequencies of sinusoidal_encoding.",
                _shift_variant(_growing),
            ),
            Mistake(
                "two_halves",
                "The matrix fits an encoding with all sines first, then all cosines.",
                "Here sin and cos of a pair are neighbours: the matrix has 2 x 2 blocks along its "
                "diagonal.",
                _shift_variant(layout="halves"),
            ),
            Mistake(
                "no_minus_sign",
                "No entry of the blocks has a minus sign.",
                "cos(a + b) = cos a cos b - sin a sin b.",
                _shift_variant(layout="both plus"),
            ),
            Mistake(
                "cosines_alone",
                "The matrix is diagonal: a sine must get some of its cosine, and the other way "
                "round.",
                "sin(a + b) = sin a cos b + cos a sin b has two terms.",
                _cosines_alone,
            ),
            Mistake(
                "offset_left_out",
                "The matrix moves by one position, whatever the offset.",
                "The angle is the frequency times the offset.",
                lambda offset, d_model: reference_shift(1, d_model),
            ),
        ),
        (_SHIFT_LAW,),
        tolerance=1e-4,
    ),
)
