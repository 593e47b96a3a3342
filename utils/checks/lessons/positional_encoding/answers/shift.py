"""The matrix that shifts sinusoids: right answers and common mistakes."""

from collections.abc import Callable

import torch
from torch import Tensor

from utils.checks.framework.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.framework.observation import Observation
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.lessons.positional_encoding.waves import shift_variant
from utils.reference.positions import reference_encoding, reference_shift


def _moves_encodings(inputs: Inputs, seen: Observation) -> bool:
    start, offset = 50, inputs["offset"]
    table = reference_encoding(start + abs(offset) + 10, inputs["d_model"])
    moved = table[start : start + 5] @ torch.as_tensor(seen.values["matrix"]).T
    return torch.allclose(moved, table[start + offset : start + offset + 5], atol=1e-3)


def _moves_the_first_row(offset: int, d_model: int) -> Tensor:
    """Return the smallest matrix that moves position 0: one of many."""
    before = reference_encoding(1, d_model)[0]
    after = reference_shift(offset, d_model) @ before
    return torch.outer(after, before) / before.square().sum()


def _moves_columns(by: Callable[[int], int], *, around: bool) -> Callable[[int, int], Tensor]:
    """Build a matrix that takes each entry to another column, `around` the end or not."""

    def matrix(offset: int, d_model: int) -> Tensor:
        columns = torch.arange(d_model)
        reached = columns + by(offset)
        return ((reached % d_model if around else reached).unsqueeze(1) == columns).float()

    return matrix


_SHIFT_LAW = Invariant("M @ PE[p] must be PE[p + offset].", _moves_encodings)

EXERCISES = by_id(
    Exercise(
        PROBES["shift_matrix"],
        reference_shift,
        (
            Mistake(
                "turns_backwards",
                "The matrix goes the other way: M @ PE[p] is PE[p - offset].",
                "In a pair the sine comes first, the cosine second. Write down sin(a + b) and "
                "cos(a + b), and read off where the minus sign belongs.",
                shift_variant(direction=-1),
            ),
            Mistake(
                "sign_of_the_exponent",
                "The exponent has lost its minus sign.",
                "These must be the frequencies of sinusoidal_encoding.",
                shift_variant(exponent=2.0),
            ),
            Mistake(
                "sine_and_cosine_exchanged",
                "Sines and cosines are swapped: the sine is on the diagonal.",
                "For an offset of 0 nothing may move. What must be on the diagonal then?",
                shift_variant(exchanged=True),
            ),
            Mistake(
                "two_halves",
                "The matrix fits an encoding with all sines first, then all cosines.",
                "Here sin and cos of a pair are neighbours: the matrix has 2 x 2 blocks along its "
                "diagonal.",
                shift_variant(layout="halves"),
            ),
            Mistake(
                "only_the_first_pair_turned",
                "Only the first pair is turned; all others stay where they are.",
                "Every pair turns, each by its own frequency: is each of them filled in?",
                shift_variant(first_alone=True),
            ),
            Mistake(
                "index_doubled_twice",
                "The exponent is twice as large as it should be.",
                "In the formula 2i is the number of the even column. Counting in steps of 2 gives "
                "2i already.",
                shift_variant(exponent=-4.0),
            ),
            Mistake(
                "exponent_halved",
                "The exponent is half as large as it should be, or the base is 100.",
                "In the formula it is 2i / D, where i counts pairs of columns.",
                shift_variant(exponent=-1.0),
            ),
            Mistake(
                "one_frequency",
                "All pairs are turned by the same angle.",
                "Pair i turns by its own frequency times the offset.",
                shift_variant(spacing="one"),
            ),
            Mistake(
                "power_divided_by_d_model",
                "10,000 is raised to the index first, and that is divided by D.",
                "The power binds more strongly than the division: where do brackets belong?",
                shift_variant(spacing="power divided"),
            ),
            Mistake(
                "divided_by_one_pair_less",
                "The frequencies run down to 1/10000 itself: i is divided by D/2 - 1.",
                "These must be the frequencies of sinusoidal_encoding, whose exponent is -2i / D.",
                shift_variant(spacing="to the base"),
            ),
            *(
                Mistake(
                    f"both_signs_{sign}",
                    f"Both sines of a block have the same sign, {sign}: that is not a rotation.",
                    "cos(a + b) = cos a cos b - sin a sin b, and sin(a + b) has a plus.",
                    shift_variant(corners=f"both {sign}"),
                )
                for sign in ("plus", "minus")
            ),
            Mistake(
                "cosines_alone",
                "The matrix is diagonal: a sine must get some of its cosine, and the other way "
                "round.",
                "sin(a + b) = sin a cos b + cos a sin b has two terms.",
                shift_variant(corners="empty"),
            ),
            Mistake(
                "second_cosine_missing",
                "Only the first entry of each block's diagonal is set; the second one is 0.",
                "A block has four entries, and two of them are the cosine.",
                shift_variant(second=0.0),
            ),
            *(
                Mistake(
                    f"a_reflection_with_{sign}",
                    "Each block is a reflection: its second cosine has a minus sign, and both "
                    "sines have the same sign.",
                    "The diagonal of a rotation holds the same cosine twice. What does an offset "
                    "of 0 need there?",
                    shift_variant(corners=f"both {sign}", second=-1.0),
                )
                for sign in ("plus", "minus")
            ),
            *(
                Mistake(
                    f"{number}_in_place_of_cosines",
                    f"The diagonal holds {number}: the cosines are missing.",
                    "sin(a + b) = sin a cos b + cos a sin b: four entries of a block, and two of "
                    "them are cosines.",
                    shift_variant(diagonal=value),
                )
                for number, value in (("ones", 1.0), ("zeros", 0.0))
            ),
            *(
                Mistake(
                    name,
                    f"The blocks of {which} are missing: there are zeros instead.",
                    "There are D/2 pairs, in D rows and columns: which pairs are filled in?",
                    shift_variant(blank=blank),
                )
                for name, which, blank in (
                    ("last_block_missing", "the last pair", "last pair"),
                    ("half_of_the_blocks_missing", "half of the pairs", "second half"),
                )
            ),
            Mistake(
                "moves_position_0_alone",
                "The matrix moves position 0 alone: it is made from two rows of the table.",
                "M may not depend on p. Write down sin(a + b) and cos(a + b) for a pair.",
                _moves_the_first_row,
            ),
            *(
                Mistake(
                    f"entries_moved{name}",
                    "The matrix takes entries to other columns. A shift leaves each pair where it "
                    "is, and turns it.",
                    "What is shifted is the position p, not the column. Write down sin(a + b) and "
                    "cos(a + b) for a pair.",
                    _moves_columns(by, around=around),
                )
                for name, by, around in (
                    ("_around", lambda offset: offset, True),
                    ("_around_back", lambda offset: -offset, True),
                    ("_around_by_pairs", lambda offset: 2 * offset, True),
                    ("_around_back_by_pairs", lambda offset: -2 * offset, True),
                    ("", lambda offset: offset, False),
                    ("_back", lambda offset: -offset, False),
                )
            ),
            *(
                Mistake(
                    f"blocks_everywhere_{way.replace(' ', '_')}",
                    "There are blocks everywhere, not on the diagonal alone: each pair gets "
                    "something from all others.",
                    "matrix[0::2, 0::2] is a quarter of the matrix, not a diagonal. With two lists "
                    "of numbers, rows and columns, you reach single entries.",
                    shift_variant(layout=way),
                )
                for way in ("by columns", "by rows")
            ),
            Mistake(
                "negative_offset_ignored",
                "A negative offset moves nothing.",
                "Backwards works by the same formula: do as many steps as forwards, the other way.",
                shift_variant(offset_as="forwards"),
            ),
            Mistake(
                "offset_left_out",
                "The matrix moves by one position, whatever the offset.",
                "The angle is the frequency times the offset.",
                shift_variant(offset_as="one"),
            ),
            Mistake(
                "squared_for_each_step",
                "The matrix of one step is multiplied by itself again and again: offsets of 3 and "
                "more move too far.",
                "Squaring doubles the offset: 2, 4, 8. Multiply by the matrix of *one* step each "
                "time, or take the angle times the offset.",
                lambda offset, d_model: reference_shift(2 ** max(offset - 1, 0), d_model),
            ),
            Mistake(
                "sign_of_the_offset_lost",
                "A negative offset shifts forwards: its sign is lost.",
                "The sine of a negative angle is negative. Is there an abs on the way, or is a "
                "row of the table used in place of the angle?",
                shift_variant(offset_as="size"),
            ),
            Mistake(
                "one_position_too_far",
                "The matrix moves by offset + 1 positions.",
                "An offset of 0 moves nothing.",
                shift_variant(offset_as="next"),
            ),
            Mistake(
                "blocks_as_a_stack",
                "The blocks are returned as a stack, (D/2, 2, 2).",
                "They belong on the diagonal of one matrix (D, D): look at torch.block_diag.",
                shift_variant(layout="stack"),
            ),
            Mistake(
                "identity_added",
                "The blocks are added to an identity, so the diagonal is one too large.",
                "Outside the blocks everything is zero, and inside them nothing is added: begin "
                "with zeros.",
                shift_variant(added=1.0),
            ),
        ),
        (_SHIFT_LAW,),
        tolerance=1e-4,
    ),
)
