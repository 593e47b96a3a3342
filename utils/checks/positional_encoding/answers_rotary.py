"""Rotary positions: what is right and commonly wrong."""

import torch

from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake
from utils.checks.observation import Observation
from utils.checks.positional_encoding.probes import PROBES
from utils.checks.positional_encoding.reference import rates, reference_rotary
from utils.checks.positional_encoding.variants import rotary_variant

_PROBE = next(probe for probe in PROBES if probe.exercise == "rotary_embedding")


def _keeps_length(inputs: Inputs, seen: Observation) -> bool:
    if "turned" not in seen.values:  # of some cases the dtype alone is observed
        return True
    lengths = torch.as_tensor(seen.values["turned"]).norm(dim=-1)
    return torch.allclose(lengths, inputs["x"].float().norm(dim=-1), rtol=1e-3, atol=1e-4)


def _mistake(name: str, says: str, hint: str, **choices: object) -> Mistake:
    return Mistake(name, says, hint, rotary_variant(**choices))  # type: ignore[arg-type]


ROTARY = Exercise(
    _PROBE,
    reference_rotary,
    (
        _mistake(
            "turned_the_other_way",
            "The pairs are turned the other way round.",
            "(a, b) becomes (a cos - b sin, a sin + b cos): the minus sign is in the first one.",
            direction=-1,
        ),
        _mistake(
            "two_halves",
            "Column i is paired with column i + Dh/2.",
            "Many libraries do that, and it works too, but here neighbours make a pair: columns "
            "2i and 2i + 1.",
            layout="halves",
        ),
        _mistake(
            "not_woven_together",
            "The pairs are right, but the result has all first halves first, then all second ones.",
            "Each pair has to return to its two columns: look at torch.stack and flatten.",
            layout="unwoven",
        ),
        _mistake(
            "second_from_the_turned_first",
            "The second column is made from the first one's new value.",
            "Both formulas use the old a and the old b.",
            second_from_turned=True,
        ),
        _mistake(
            "added_not_turned",
            "Sines and cosines are added to x.",
            "Nothing is added here: each pair is turned by an angle.",
            added=True,
        ),
        _mistake(
            "along_the_heads",
            "Positions run along the heads.",
            "x is (B, H, T, Dh): positions are its last axis but one.",
            axis=1,
        ),
        _mistake(
            "counted_from_one",
            "The first word is turned, too.",
            "It stands at position 0, and an angle of 0 turns nothing.",
            first=1,
        ),
        _mistake(
            "one_frequency",
            "All pairs turn by the same angle.",
            "Pair i turns by base^(-2i/Dh) for each position. Is there a // that should be a /?",
            angle_per_position=lambda width, base: torch.ones_like(rates(width, base)),
        ),
        _mistake(
            "sign_of_the_exponent",
            "The exponent has lost its minus sign.",
            "The first pair turns by one radian for each position, all others by less.",
            angle_per_position=lambda width, base: 1 / rates(width, base),
        ),
        _mistake(
            "index_doubled_twice",
            "The exponent is twice as large as it should be.",
            "In the formula 2i is the number of the even column. A range with step 2 gives 2i "
            "already.",
            angle_per_position=lambda width, base: rates(width, base) ** 2,
        ),
        _mistake(
            "index_not_doubled",
            "The exponent is half as large as it should be.",
            "Pair i has the exponent -2i/Dh: 2i is the number of the pair's even column.",
            angle_per_position=lambda width, base: rates(width, base) ** 0.5,
        ),
        _mistake(
            "both_signs_plus",
            "Both signs are plus: that is no rotation, for it changes lengths.",
            "Look at the two formulas again, sign by sign.",
            both_plus=True,
        ),
        Mistake(
            "not_turned_at_all",
            "x comes back as it was: nothing is turned.",
            "Is what you computed returned? A position's angle is 0 at the first word only.",
            lambda x, base=10000.0: x,
        ),
        _mistake(
            "dtype_of_the_angles",
            "A short x comes back longer: sines and cosines in float32 make the result float32.",
            "Which dtype do your angles have, and which one has x?",
            keeps_dtype=False,
        ),
        _mistake(
            "base_ignored",
            "The base is 10,000 whatever is asked for.",
            "It is the second argument.",
            ignores_base=True,
        ),
    ),
    (Invariant("A rotation changes no vector's length.", _keeps_length),),
    tolerance=1e-4,
)
