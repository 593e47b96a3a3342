"""Rotary positions: right answers and common mistakes."""

import torch

from utils.checks.framework.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.framework.observation import Observation
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.lessons.positional_encoding.waves import rotary_variant
from utils.reference.positions import reference_rotary


def _keeps_length(inputs: Inputs, seen: Observation) -> bool:
    if "turned" not in seen.values:  # some cases observe the dtype alone
        return True
    lengths = torch.as_tensor(seen.values["turned"]).norm(dim=-1)
    return torch.allclose(lengths, inputs["x"].float().norm(dim=-1), rtol=1e-3, atol=1e-4)


ROTARY = Exercise(
    PROBES["rotary_embedding"],
    reference_rotary,
    (
        Mistake(
            "turned_the_other_way",
            "The pairs are turned the other way round.",
            "(a, b) becomes (a cos - b sin, a sin + b cos): the minus sign is in the first one.",
            rotary_variant(direction=-1),
        ),
        Mistake(
            "two_halves",
            "Column i is paired with column i + Dh/2.",
            "Many libraries do that, and it works too, but here neighbours make a pair: columns "
            "2i and 2i + 1.",
            rotary_variant(layout="halves"),
        ),
        Mistake(
            "not_woven_together",
            "The pairs are right, but the result has the first entries of all pairs first, then "
            "the second ones.",
            "Each pair has to go back to its two columns: look at torch.stack and flatten.",
            rotary_variant(layout="unwoven"),
        ),
        Mistake(
            "second_from_the_turned_first",
            "The second column is made from the first one's new value.",
            "Both formulas use the old a and the old b.",
            rotary_variant(second_from_turned=True),
        ),
        Mistake(
            "added_not_turned",
            "Sines and cosines are added to x.",
            "Nothing is added here: each pair is turned by an angle.",
            rotary_variant(added=True),
        ),
        Mistake(
            "along_the_heads",
            "Positions run along the heads.",
            "x is (B, H, T, Dh): positions are its last axis but one.",
            rotary_variant(axis="heads"),
        ),
        Mistake(
            "counted_from_one",
            "The first word is turned, too.",
            "It is at position 0, and an angle of 0 turns nothing.",
            rotary_variant(first=1),
        ),
        Mistake(
            "one_frequency",
            "All pairs turn by the same angle.",
            "Pair i turns by base^(-2i/Dh) for each position. Is there a // that should be a /?",
            rotary_variant(spacing="one"),
        ),
        Mistake(
            "sign_of_the_exponent",
            "The exponent has lost its minus sign.",
            "The first pair turns by one radian for each position, all others by less.",
            rotary_variant(exponent=2.0),
        ),
        Mistake(
            "index_doubled_twice",
            "The exponent is twice as large as it should be.",
            "In the formula 2i is the number of the even column. Counting in steps of 2 gives 2i "
            "already.",
            rotary_variant(exponent=-4.0),
        ),
        Mistake(
            "index_not_doubled",
            "The exponent is half as large as it should be.",
            "Pair i has the exponent -2i/Dh: 2i is the number of the pair's even column.",
            rotary_variant(exponent=-1.0),
        ),
        Mistake(
            "exponent_floored",
            "All pairs after the first turn equally slowly: their exponent is -1.",
            "Is there a // that should be a /? An integer division rounds -2i / Dh down to -1.",
            rotary_variant(spacing="floored"),
        ),
        Mistake(
            "angles_rounded_down",
            "The angles are whole numbers: what comes after the decimal point is lost.",
            "Is there a // that should be a /?",
            rotary_variant(whole=True),
        ),
        Mistake(
            "width_of_all_heads",
            "The exponent is divided by the width of all heads together.",
            "Dh is the last size of x, that of one head.",
            rotary_variant(over_heads=True),
        ),
        Mistake(
            "last_pair_not_turned",
            "The last pair is not turned.",
            "There are Dh/2 pairs: which is the last one that is turned?",
            rotary_variant(last_left=True),
        ),
        *(
            Mistake(
                f"half_of_the_{what}_turned",
                f"Only the first half of the {what} is turned.",
                "Some models turn a part of each head; here every pair is turned.",
                rotary_variant(of_columns=of_columns),
            )
            for what, of_columns in (
                ("columns", lambda width: width // 2),
                ("pairs", lambda width: max(2, width // 4 * 2)),
            )
        ),
        Mistake(
            "single_word_not_turned",
            "A single word is returned as it was, wherever it is in the text.",
            "Its position is `offset`, and that is 0 only at the beginning.",
            rotary_variant(alone_left=True),
        ),
        Mistake(
            "both_signs_plus",
            "Both signs are plus: that is not a rotation, because it changes lengths.",
            "Look at the two formulas again, sign by sign.",
            rotary_variant(both="plus"),
        ),
        Mistake(
            "both_signs_minus",
            "Both signs are minus: that is not a rotation, because it changes lengths.",
            "Look at the two formulas again, sign by sign.",
            rotary_variant(both="minus"),
        ),
        Mistake(
            "sine_and_cosine_exchanged",
            "Sines and cosines are swapped in the rotation.",
            "At position 0 the angle is 0 and nothing turns: what must a be multiplied by there?",
            rotary_variant(exchanged=True),
        ),
        Mistake(
            "along_the_batch",
            "Positions run along the batch.",
            "x is (B, H, T, Dh): positions are its last axis but one.",
            rotary_variant(axis="batch"),
        ),
        Mistake(
            "angles_meet_the_heads",
            "The angles have an extra axis after T, so their T is lined up with the axis of the "
            "heads.",
            "Broadcasting starts at the last axis: (T, Dh/2) fits (B, H, T, Dh/2) as it is.",
            rotary_variant(axis="stray"),
        ),
        Mistake(
            "angles_in_two_halves",
            "The angles are repeated as two halves, while the pairs are neighbours.",
            "Columns 2i and 2i + 1 share one angle: write the angles of Dh = 4 under its columns.",
            rotary_variant(repeated=True),
        ),
        Mistake(
            "power_divided_by_width",
            "The base is raised to the index first, and that is divided by Dh.",
            "The power binds more strongly than the division: where do brackets belong?",
            rotary_variant(spacing="power divided"),
        ),
        Mistake(
            "divided_by_one_pair_less",
            "The frequencies run down to 1/base itself: i is divided by Dh/2 - 1.",
            "Pair i turns by base^(-2i/Dh): the last frequency stays a little above 1/base.",
            rotary_variant(spacing="to the base"),
        ),
        Mistake(
            "not_turned_at_all",
            "x is returned as it was: nothing is turned.",
            "Is what you computed returned? A position's angle is 0 at the first word only.",
            lambda x, base=10000.0, offset=0: x,
        ),
        Mistake(
            "dtype_of_the_angles",
            "An x in a shorter number type comes back as float32, because the sines and cosines "
            "are float32.",
            "Which dtype do your sines and cosines have, and which does x have?",
            rotary_variant(keeps_dtype=False),
        ),
        Mistake(
            "angles_in_a_short_type",
            "Positions or angles are computed in bfloat16, which has no odd numbers above 256: "
            "late in a text, words are turned by wrong angles.",
            "Compute positions, angles, sines and cosines in float32, and convert only the sines "
            "and cosines to x's dtype.",
            rotary_variant(short_angles=True),
        ),
        Mistake(
            "base_ignored",
            "The base is 10,000 whatever is asked for.",
            "It is the second argument.",
            rotary_variant(ignores_base=True),
        ),
        Mistake(
            "offset_ignored",
            "The first word is always at position 0, whatever offset is asked for.",
            "The positions run from offset to offset + T - 1.",
            rotary_variant(of_offset=0),
        ),
        Mistake(
            "positions_end_at_t",
            "The positions run from offset to T, so with an offset there are too few, or none.",
            "T words need T positions: from offset to offset + T - 1.",
            rotary_variant(ends="at T"),
        ),
        Mistake(
            "one_position_for_all_with_an_offset",
            "With an offset, all words are turned as the first one is: there is one position.",
            "T words need T positions: from offset to offset + T - 1. Where does yours end?",
            rotary_variant(ends="at T or with the first"),
        ),
        Mistake(
            "offset_counted_twice",
            "The offset is added twice.",
            "The positions run from offset to offset + T - 1.",
            rotary_variant(of_offset=2),
        ),
        Mistake(
            "offset_taken_away",
            "The offset is subtracted from the positions.",
            "The positions run from offset to offset + T - 1.",
            rotary_variant(of_offset=-1),
        ),
        *(
            Mistake(
                f"positions_multiplied_by_{name}",
                f"The positions are multiplied by {what}, where the offset belongs in a sum.",
                "The positions run from offset to offset + T - 1.",
                rotary_variant(of_offset=0, strides=strides),
            )
            for name, what, strides in (
                ("the_offset", "the offset", lambda offset: offset or 1),
                ("one_more", "1 + offset", lambda offset: 1 + offset),
            )
        ),
        Mistake(
            "offset_added_to_the_angles",
            "The offset is added to the angles: every pair is turned further by the same angle.",
            "The offset is a number of positions, and each pair turns by its own speed for each.",
            rotary_variant(of_offset=0, to_angles=True),
        ),
    ),
    (Invariant("A rotation changes no vector's length.", _keeps_length),),
    tolerance=1e-4,
)

EXERCISES = by_id(ROTARY)
