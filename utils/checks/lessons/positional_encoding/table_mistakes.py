"""Known mistakes of both exercises that make a table of sinusoids: one writes it, one repairs it.

Likely ones stand first, because not all pairs are tried.
"""

import math

from utils.checks.framework.exercise import Mistake
from utils.checks.lessons.positional_encoding.waves import encoding_variant

TABLE = (
    Mistake(
        "sine_and_cosine_swapped",
        "Sines and cosines are swapped.",
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
        "stacked_and_cut_anew",
        "Sines and cosines are stacked on top of one another and cut into rows anew: a row holds "
        "entries of several positions.",
        "A new form keeps the order. Stack along the last axis, and then join the last two.",
        encoding_variant(layout="stacked"),
    ),
    Mistake(
        "cosine_of_the_sine",
        "The cosine is taken of the sine, not of the angle.",
        "sin_() writes its result into the angles themselves; sin() leaves them as they are.",
        encoding_variant(layout="of the sines"),
    ),
    Mistake(
        "index_doubled_twice",
        "The exponent is twice as large as it should be.",
        "In the formula 2i is the number of the even column. Counting in steps of 2 gives 2i "
        "already.",
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
        "exp(log(b)) is b only for the natural logarithm, not for log10 or log2.",
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
            "10,000 is not raised to the whole exponent: the index is only a factor beside the "
            "power.",
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
        "exp is applied to the index alone, and the result is multiplied by the logarithm.",
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
                "The angles are converted from degrees to radians, but they are in radians "
                "already.",
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
        "cosine_of_the_next_pair",
        "The cosine has the angle of the next pair, so a pair turns at two speeds.",
        "Column 2i + 1 takes the frequency of column 2i: what is the exponent of your odd columns?",
        encoding_variant(cosine_step=1.0),
    ),
    Mistake(
        "column_number_doubled",
        "The exponent uses the number of the column as i, so every column has a frequency of its "
        "own.",
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
    *(
        Mistake(
            name,
            f"The columns of {which} are zero: nothing is written there.",
            "There are D/2 pairs, in D columns: which pairs are filled in?",
            encoding_variant(blank=blank),
        )
        for name, which, blank in (
            ("last_pair_empty", "the last pair", "last pair"),
            ("half_of_the_pairs_empty", "half of the pairs", "second half"),
        )
    ),
    Mistake(
        "cosines_negated",
        "The cosines have the wrong sign: the first row holds -1 where it should hold 1.",
        "sin(a + pi/2) is cos(a), and sin(a - pi/2) is -cos(a).",
        encoding_variant(layout="negated"),
    ),
    Mistake(
        "table_of_zeros",
        "Every entry is zero: nothing is written into the table that is returned.",
        "table[:, numbers], with a list or a tensor of numbers, is a copy: changing it leaves the "
        "table as it was. Only table[...] = ... writes into it.",
        encoding_variant(blank="all"),
    ),
    Mistake(
        "rows_take_turns",
        "Sines and cosines take turns by rows: even positions hold sines alone, odd ones cosines.",
        "Every row needs both. In table[a, b] the second index counts columns.",
        encoding_variant(layout="rows"),
    ),
    Mistake(
        "cosine_by_the_root",
        "The cosine is computed from the sine, as the root of 1 - sin², so it is never negative.",
        "The sine alone does not tell where a hand points. Take the cosine of the angle itself.",
        encoding_variant(layout="root"),
    ),
    Mistake(
        "transposed",
        "Rows and columns are swapped.",
        "A row for each position, a column for each dimension.",
        encoding_variant(form="transposed"),
    ),
    Mistake(
        "an_axis_for_the_batch",
        "The table has one axis too many.",
        "(max_len, d_model): broadcasting over the batch comes later.",
        encoding_variant(form="batched"),
    ),
)
