"""Counting parameters: right answers and common mistakes.

A wrong count is made of a few slips: a layer or a bias is left out, a size is taken for another,
something is counted once for each head. Each slip is a choice of `_miscount`, so two at once are
tried, too. A number that is made otherwise is read as so many matrices and rows.
"""

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from operator import add, mul
from typing import Final

from torch import nn

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.multi_head_attention.probes import PROBES
from utils.checks.observation import Plain

D_MODEL: Final = 512
FIRST_ASKED: Final = 8  # heads; then twice as many are asked for
_EVEN: Final = 1000  # a multiple of it is a guess, and not the sum of anything
Bias = Callable[[int], int]


def _count(n_heads: int) -> int:
    """Count the parameters of torch's own attention."""
    return sum(p.numel() for p in nn.MultiheadAttention(D_MODEL, n_heads).parameters())


def _for_each_output(outputs: int) -> int:
    return outputs


def _none(_: int) -> int:
    return 0


@by_choices
def _miscount(
    n_heads: int,
    *,
    layers: str = "qkvo",
    reads: int = D_MODEL,
    gives: int = D_MODEL,
    joined: int = D_MODEL,
    copies: int = 1,
    matrix: Callable[[int, int], int] = mul,
    bias: Bias = _for_each_output,
    bias_of_w_o: Bias = _for_each_output,
    biases_more: int = 0,
    times: Fraction = Fraction(1),
) -> Callable[[], int]:
    """Build a count with the given slips.

    Args:
        n_heads: H; counts for different numbers of heads do not go together.
        layers: those that are counted.
        reads: inputs of each of w_q, w_k and w_v.
        gives: outputs of each of these.
        joined: inputs of w_o.
        copies: how often each of w_q, w_k and w_v is counted.
        matrix: inputs and outputs -> the numbers in a matrix.
        bias: outputs of one of w_q, w_k and w_v -> the numbers in its bias.
        bias_of_w_o: outputs of w_o -> the numbers in its bias.
        biases_more: numbers of biases that no layer has counted.
        times: what all of it is multiplied by.

    """

    def count() -> int:
        inner = sum(name in layers for name in "qkv") * copies
        total = inner * (matrix(reads, gives) + bias(gives)) + biases_more
        if "o" in layers:
            total += matrix(joined, D_MODEL) + bias_of_w_o(D_MODEL)
        return int(total * times)

    return count


_FOUR: Final = "How many nn.Linear does the class have, and what does each of them train?"
_OUTPUTS: Final = "A bias has one number for each output of its layer."
_SHARED: Final = "The heads share the D features: each has D / H of them, and H Dh = D."
_WHOLE_WORD: Final = (
    "Every head sees the whole word: each of its Dh features is a weighted sum of all D."
)
_W_O: Final = "w_o reads what all heads found, side by side: H Dh = D features."
_RECTANGLE: Final = "A matrix from 512 to 512 is a table of 512 rows and 512 columns."


def _layers(n_heads: int) -> Iterator[Mistake]:
    """Return what goes wrong with the number of layers and their matrices."""
    for name, message, hint, choices in (
        (
            "no_output_projection",
            "That is three layers, those of queries, keys and values. The heads also have to be "
            "put together.",
            _FOUR,
            {"layers": "qkv"},
        ),
        (
            "matrices_of_queries_keys_and_values",
            "That is three matrices, those of queries, keys and values; biases and the output "
            "projection are missing.",
            _FOUR,
            {"layers": "qkv", "bias": _none, "bias_of_w_o": _none},
        ),
        (
            "narrow_matrices_of_queries_keys_and_values",
            "That is three matrices of D x Dh numbers, as narrow as a single head, and nothing "
            "else.",
            f"{_FOUR} {_WHOLE_WORD}",
            {"layers": "qkv", "gives": D_MODEL // n_heads, "bias": _none},
        ),
        (
            "narrow_matrices_without_bias",
            "No bias is counted, and w_q, w_k and w_v have D x Dh numbers each, as few as for a "
            "single head.",
            f"{_FOUR} {_WHOLE_WORD}",
            {"gives": D_MODEL // n_heads, "bias": _none, "bias_of_w_o": _none},
        ),
    ):
        yield Mistake(name, message, hint, _miscount(n_heads, **choices))


def _biases(n_heads: int) -> Iterator[Mistake]:
    """Return what goes wrong with the biases, where the matrices are right."""

    def of_both(kind: Bias) -> dict[str, Bias]:
        return {"bias": kind, "bias_of_w_o": kind}

    for name, message, choices in (
        (
            "no_bias",
            "The matrices are counted, but their biases are not.",
            of_both(_none),
        ),
        (
            "one_bias",
            "Only one of the four biases is counted, but each layer has its own.",
            {"bias": _none},
        ),
        (
            "three_biases",
            "Only three of the four biases are counted, but each layer has its own.",
            {"bias_of_w_o": _none},
        ),
        (
            "bias_of_one_number",
            "A bias is counted as a single number for its whole layer.",
            of_both(lambda outputs: 1),
        ),
        (
            "bias_as_long_as_a_head",
            "Each bias is counted with as few numbers as one head has features.",
            of_both(lambda outputs: D_MODEL // n_heads),
        ),
        (
            "biases_for_each_head",
            "The matrices are right, but each bias is counted once for every head.",
            of_both(lambda outputs: n_heads * outputs),
        ),
        (
            "bias_of_w_o_for_each_head",
            "The bias of w_o is counted once for every head: as if each head had a w_o of its own.",
            {"bias_of_w_o": lambda outputs: n_heads * outputs},
        ),
        (
            "one_number_for_all_biases",
            "The matrices are right, but all biases together are counted as one number.",
            of_both(_none) | {"biases_more": 1},
        ),
    ):
        yield Mistake(name, message, _OUTPUTS, _miscount(n_heads, **choices))


def _heads(n_heads: int) -> Iterator[Mistake]:
    """Return what goes wrong with the sizes of the heads, and with how many there are."""
    small = D_MODEL // n_heads
    for name, message, hint, choices in (
        (
            "multiplied_by_the_heads",
            "That gives every head four layers of its own, at full width.",
            _SHARED,
            {"times": Fraction(n_heads)},
        ),
        (
            "every_head_at_full_width",
            "That gives every head its own D x D projections.",
            _SHARED,
            {"copies": n_heads},
        ),
        (
            "heads_at_full_width_joined",
            "That gives every head its own D x D projections, and a w_o that reads H D features.",
            _SHARED,
            {"copies": n_heads, "joined": n_heads * D_MODEL},
        ),
        (
            "heads_project_a_slice",
            "That gives every head Dh x Dh projections, of its own slice of a word.",
            _WHOLE_WORD,
            {"reads": small, "gives": small, "copies": n_heads},
        ),
        (
            "one_head_only",
            "That counts the projections of a single head.",
            "There are H heads of Dh features, and H Dh = D.",
            {"gives": small},
        ),
        (
            "part_of_one_head",
            "That is one head's share of the four layers.",
            "There are H heads of Dh features, and H Dh = D.",
            {"times": Fraction(1, n_heads)},
        ),
        (
            "matrices_of_one_head",
            "Each of the four matrices is counted with D x Dh numbers, as narrow as a single head.",
            f"There are H heads of Dh features, and H Dh = D. {_WHOLE_WORD}",
            {"reads": small, "joined": small},
        ),
    ):
        yield Mistake(name, message, hint, _miscount(n_heads, **choices))


def _outputs(n_heads: int) -> Iterator[Mistake]:
    """Return what goes wrong with the size of w_o, where the other layers are right."""
    for name, message, choices in (
        (
            "output_projection_of_one_head",
            "The output projection is counted as if it read the features of one head alone.",
            {"joined": D_MODEL // n_heads},
        ),
        (
            "output_projection_for_each_head",
            "Every head is given a w_o of its own, from D to D.",
            {
                "joined": n_heads * D_MODEL,
                "bias_of_w_o": lambda outputs: n_heads * outputs,
            },
        ),
        (
            "output_projection_of_wide_heads",
            "The output projection is counted as if every head gave it D features.",
            {"joined": n_heads * D_MODEL},
        ),
    ):
        yield Mistake(name, message, _W_O, _miscount(n_heads, **choices))


def _by_the_heads(n_heads: int) -> Iterator[Mistake]:
    """Return what goes wrong when the heads become twice as many."""
    for name, message, hint, choices in (
        (
            "doubled_with_the_heads",
            "The count would double only if every head kept its width.",
            "D stays the same: when there are more heads, what becomes of Dh?",
            {"times": Fraction(2)},
        ),
        (
            "halved_with_the_width",
            "Each head became narrower, but there are more of them.",
            "Does any of the four layers change its size?",
            {"times": Fraction(1, 2)},
        ),
        (
            "heads_keep_their_width",
            "That keeps every head as wide as it was when there were eight: together they would "
            "have 2 D features.",
            "D stays the same: when there are more heads, what becomes of Dh?",
            {"gives": 2 * D_MODEL, "joined": 2 * D_MODEL},
        ),
        (
            "projections_grow_with_the_heads",
            "w_q, w_k and w_v are counted with twice as many outputs as for eight heads.",
            "D stays the same: when there are more heads, what becomes of Dh?",
            {"gives": 2 * D_MODEL},
        ),
        (
            "output_projection_grows_with_the_heads",
            "w_o is counted as if it read twice as many features as for eight heads.",
            _W_O,
            {"joined": 2 * D_MODEL},
        ),
    ):
        yield Mistake(name, message, hint, _miscount(n_heads, **choices))


def _alone(n_heads: int) -> Iterator[Mistake]:
    """Return what is not tried with other slips: with these, such small parts fit too much."""
    small = D_MODEL // n_heads
    without = {"bias": _none, "bias_of_w_o": _none}
    two = (("two_layers_only", "That is two layers.", _FOUR, {"layers": "qk"}),)
    for name, message, hint, choices in (
        ("one_layer_only", "That is a single layer.", _FOUR, {"layers": "q"}),
        (
            "one_matrix_only",
            "That is a single matrix from 512 to 512.",
            _FOUR,
            {"layers": "q", **without},
        ),
        *(two if n_heads == FIRST_ASKED else ()),  # of 16 heads, that is half of the count
        (
            "biases_only",
            "That is four biases, and no matrix.",
            _RECTANGLE,
            {"matrix": lambda inputs, outputs: 0},
        ),
        (
            "sizes_added",
            "For each layer 512 and 512 were added: its inputs and outputs, or one row and its "
            "bias.",
            _RECTANGLE,
            {"matrix": add, **without},
        ),
        (
            "sizes_added_of_three_layers",
            "For each of three layers 512 and 512 were added, and a fourth layer is missing.",
            _RECTANGLE,
            {"layers": "qkv", "matrix": add, **without},
        ),
        (
            "sizes_added_beside_the_bias",
            "A layer's inputs and outputs were added, but each output has a weight for every "
            "input.",
            _RECTANGLE,
            {"matrix": add},
        ),
        (
            "biases_counted_twice",
            "The matrices are right, but the biases have twice as many numbers as they should.",
            _OUTPUTS,
            {"biases_more": 4 * D_MODEL},
        ),
        (
            "one_slice_only",
            "That counts projections of Dh x Dh, once for all heads.",
            _WHOLE_WORD,
            {"reads": small, "gives": small},
        ),
        (
            "in_bytes",
            "That is how many bytes the numbers take, at four bytes each.",
            "The question is how many numbers there are.",
            {"times": Fraction(4)},
        ),
    ):
        yield Mistake(name, message, hint, _by_itself(_miscount(n_heads, **choices)))


def _by_itself(count: Callable[[], int]) -> Callable[[], int]:
    """Hide what a count was built from, so that it is combined with nothing."""
    return partial(count)


def _mistakes(n_heads: int) -> tuple[Mistake, ...]:
    further = _by_the_heads(n_heads) if n_heads > FIRST_ASKED else ()
    shared = (part(n_heads) for part in (_biases, _layers, _heads, _outputs))
    return (*itertools.chain(*shared), *further, *_alone(n_heads))


def read_as_layers(said: Plain, n_heads: int) -> str:
    """Say of how many matrices and rows a number of parameters is the sum, if of few.

    For each size of a matrix there is one such sum at most with fewer rows than a matrix has.

    """
    if not isinstance(said, int) or isinstance(said, bool) or said <= 0 or said % _EVEN == 0:
        return ""
    small, most = D_MODEL // n_heads, 4 * n_heads
    for rows, columns in ((D_MODEL, D_MODEL), (D_MODEL, small), (small, small)):
        matrices, rest = divmod(said, rows * columns)
        beside, odd = divmod(rest, columns)
        if 0 < matrices <= most and beside <= most and not odd:
            noun = "matrix" if matrices == 1 else "matrices"
            row = "row" if beside == 1 else "rows"
            more = f"{beside} {row} of {columns}" if beside else "nothing else"
            return (
                f"Your number is the size of {matrices} {noun} of {rows} x {columns} and {more}. "
                "Which matrices does the module have, and which biases?"
            )
    return ""


EXERCISES = by_id(
    *(
        Exercise(
            PROBES[f"predict_parameters_{n_heads}_heads"],
            lambda n_heads=n_heads: _count(n_heads),
            _mistakes(n_heads),
            tolerance=1e-7,
            read=partial(read_as_layers, n_heads=n_heads),
        )
        for n_heads in (FIRST_ASKED, 2 * FIRST_ASKED)
    ),
)
