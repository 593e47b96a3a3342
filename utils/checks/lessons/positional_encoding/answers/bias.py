"""ALiBi's bias: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.framework.combining import by_choices
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES

Slopes = Callable[[int], Tensor]
Distance = Callable[[Tensor, Tensor], Tensor]


def bias_oracle(n_heads: int, length: int) -> Tensor:
    """Write down each entry by itself."""
    entries = [
        [
            [-(2.0 ** (-8 * head / n_heads)) * abs(t - s) for s in range(length)]
            for t in range(length)
        ]
        for head in range(1, n_heads + 1)
    ]
    return torch.tensor(entries)


def _slopes(n_heads: int) -> Tensor:
    return 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)


@by_choices
def _bias(
    *,
    slopes: Slopes = _slopes,
    distance: Distance = lambda t, s: (t - s).abs(),
    sign: int = -1,
    finish: Callable[[Tensor], Tensor] = lambda bias: bias,
) -> Any:
    """Build alibi_bias with the given choices.

    Args:
        slopes: number of heads -> (H,).
        distance: of query t (T, 1) and key s (T,) -> (T, T).
        sign: -1 as asked for.
        finish: applied to the bias (H, T, T).

    """

    def bias(n_heads: int, length: int) -> Tensor:
        places = torch.arange(length)
        apart = distance(places[:, None], places)
        return finish(sign * slopes(n_heads)[:, None, None] * apart)

    return bias


def _of_the_authors_program(n_heads: int) -> Tensor:
    """Fill up with every other slope of twice as many heads if H is no power of two."""
    power = 2 ** (n_heads.bit_length() - 1)
    more = _slopes(2 * power)[0::2][: n_heads - power]
    return torch.cat([_slopes(power), more])


_SLOPES = "Head h of H has the slope 2^(-8h/H), with h from 1 to H: 1/4, 1/16, ... for four heads."
_APART = "The distance is |t - s|: 0 on the diagonal, 1 next to it on both sides."
MISTAKES = tuple(
    Mistake(name, message, hint, _bias(**choices))
    for name, choices, message, hint in (
        (
            "distance_rewarded",
            {"sign": 1},
            "The sign is plus: far words get the higher scores.",
            "The bias is subtracted from the scores: it is negative or zero.",
        ),
        (
            "distance_with_a_sign",
            {"distance": lambda t, s: t - s},
            "The distance has a sign: keys on one side are pushed down, on the other side up.",
            "An encoder looks both ways: take the absolute value.",
        ),
        (
            "only_what_came_before",
            {"distance": lambda t, s: (t - s).clamp(min=0)},
            "Keys after the query get no bias: that is a decoder's form, with a causal mask.",
            "An encoder looks both ways: take the absolute value.",
        ),
        (
            "later_words_blocked",
            {"distance": lambda t, s: (t - s).float().masked_fill(s > t, torch.inf)},
            "Keys after the query get minus infinity: that is a causal mask as well.",
            "An encoder looks both ways, and masks are added separately.",
        ),
        (
            "squared_distance",
            {"distance": lambda t, s: (t - s) ** 2},
            "The distance is squared.",
            _APART,
        ),
        (
            "logarithm_of_the_distance",
            {"distance": lambda t, s: (t - s).abs().log1p()},
            "The logarithm of the distance is taken.",
            _APART,
        ),
        (
            "root_of_the_distance",
            {"distance": lambda t, s: (t - s).abs().sqrt()},
            "The square root of the distance is taken.",
            _APART,
        ),
        (
            "distance_from_one",
            {"distance": lambda t, s: (t - s).abs() + 1},
            "The distances start at 1: a word is one step away from itself.",
            _APART,
        ),
        (
            "distance_over_length",
            {"distance": lambda t, s: (t - s).abs() / len(t)},
            "The distance is divided by the length of the sentence, T.",
            _APART,
        ),
        (
            "distance_over_the_longest",
            {"distance": lambda t, s: (t - s).abs() / max(len(t) - 1, 1)},
            "The distance is divided by the longest one, T - 1.",
            _APART,
        ),
        (
            "distance_from_the_start",
            {"distance": lambda t, s: s.expand(len(t), -1)},
            "The bias grows with the key's place, whatever the query's is.",
            _APART,
        ),
        (
            "grows_with_the_keys_place",
            {"distance": lambda t, s: s.expand(len(t), -1), "sign": 1},
            "The bias is the slope times the key's place: every query gets the same row.",
            f"That is a short form for decoders, where softmax makes up for it. {_APART}",
        ),
        (
            "distance_from_the_end",
            {"distance": lambda t, s: (len(t) - 1 - s).expand(len(t), -1)},
            "The bias counts from the last word: every query gets the last word's row.",
            f"That is a short form for decoders, where softmax makes up for it. {_APART}",
        ),
        (
            "only_what_comes_after",
            {"distance": lambda t, s: (s - t).clamp(min=0)},
            "Keys before the query get no bias.",
            "An encoder looks both ways: take the absolute value.",
        ),
        (
            "heads_counted_from_zero",
            {"slopes": lambda n: 2.0 ** (-8 * torch.arange(n) / n)},
            "The heads are counted from 0, so the first slope is 1.",
            _SLOPES,
        ),
        (
            "exponents_floored",
            {"slopes": lambda n: 2.0 ** (-8 * torch.arange(1, n + 1) // n)},
            "The exponents are rounded down to whole numbers.",
            "Is there a // that should be a /?",
        ),
        (
            "index_floored",
            {"slopes": lambda n: 2.0 ** -(8 * torch.arange(1, n + 1) // n).float()},
            "8h/H is rounded down to a whole number: right only where H divides 8.",
            "Is there a // that should be a /?",
        ),
        (
            "slopes_in_reverse",
            {"slopes": lambda n: _slopes(n).flip(0)},
            "The slopes are in reverse order.",
            _SLOPES,
        ),
        (
            "one_slope_for_all",
            {"slopes": lambda n: _slopes(n)[:1].expand(n)},
            "All heads have the same slope.",
            _SLOPES,
        ),
        (
            "slopes_of_eight_heads",
            {"slopes": lambda n: 2.0 ** -torch.arange(1, n + 1).float()},
            "The slopes are 1/2, 1/4, 1/8, ...: those of eight heads, however many there are.",
            _SLOPES,
        ),
        (
            "slopes_from_a_half",
            {"slopes": lambda n: torch.logspace(-1, -8, n, base=2.0)},
            "The slopes run from 1/2 to 1/256 however many heads there are: right for eight only.",
            _SLOPES,
        ),
        (
            "slopes_from_one",
            {"slopes": lambda n: torch.logspace(0, -8, n, base=2.0)},
            "The slopes run from 1 to 1/256, in H - 1 equal steps of the exponent.",
            _SLOPES,
        ),
        (
            "multiples_of_the_first_slope",
            {"slopes": lambda n: 2.0 ** (-8 / n) * torch.arange(1, n + 1)},
            "The first head's slope is multiplied by h: the slopes grow from head to head.",
            "It has to be raised to the power h instead: 1/4, 1/16, ... for four heads.",
        ),
        (
            "slopes_of_the_authors_program",
            {"slopes": _of_the_authors_program},
            "Where the number of heads is not a power of two, slopes are taken from numbers of "
            "heads that are.",
            "ALiBi's authors do that in their program. Here it is 2^(-8h/H), whatever H is.",
        ),
        (
            "index_behind_the_power",
            {"slopes": lambda n: 2.0**-8 * torch.arange(1, n + 1) / n},
            "2^-8 is computed first and then multiplied by h / H: the slopes grow in even steps.",
            "The exponent is -8h/H, all of it: look at ** and at the brackets.",
        ),
        (
            "power_divided_by_heads",
            {"slopes": lambda n: 2.0 ** (-8 * torch.arange(1, n + 1)) / n},
            "The power is divided by the number of heads, not its exponent: 2^(-8h) / H.",
            "** binds more strongly than /: where do brackets belong?",
        ),
        (
            "eight_raised_to_the_head",
            {"slopes": lambda n: 2.0 ** -(8.0 ** (torch.arange(1, n + 1) / n))},
            "8 is raised to h / H, and only then 2 to that: the slopes are 2^(-(8^(h / H))).",
            "The exponent is a product, -8 times h / H: look for a ** that should be a *.",
        ),
        (
            "exponent_not_divided",
            {"slopes": lambda n: 2.0 ** (-8 * torch.arange(1, n + 1))},
            "The slopes are 2^(-8h): the number of heads is missing.",
            _SLOPES,
        ),
        (
            "exponent_without_minus",
            {"slopes": lambda n: 2.0 ** (8 * torch.arange(1, n + 1) / n)},
            "The exponent has lost its minus sign: slopes are above 1.",
            _SLOPES,
        ),
        (
            "slopes_in_even_steps",
            {"slopes": lambda n: torch.arange(1, n + 1) / n},
            "The slopes grow in even steps. They fall by a factor from head to head.",
            _SLOPES,
        ),
        (
            "base_e",
            {"slopes": lambda n: torch.exp(-8 * torch.arange(1, n + 1) / n)},
            "The slopes are powers of e, not of 2.",
            _SLOPES,
        ),
        (
            "exponentials_taken",
            {"finish": torch.exp},
            "exp is applied to the bias: softmax does that later.",
            "What is added to the scores is the negative number itself.",
        ),
        (
            "heads_last",
            {"finish": lambda bias: bias.permute(1, 2, 0)},
            "The heads are the last axis: (T, T, H).",
            "Scores are (B, H, T, T): the bias needs the same order of axes.",
        ),
        (
            "batch_axis_added",
            {"finish": lambda bias: bias[None]},
            "There is one axis too many: (1, H, T, T).",
            "(H, T, T) broadcasts over the batch by itself.",
        ),
        (
            "one_matrix_for_all",
            {"finish": lambda bias: bias.sum(0)},
            "The heads are added up, so the result is a single matrix.",
            "Each head keeps a matrix of its own: (H, T, T).",
        ),
    )
)

EXERCISES = by_id(Exercise(PROBES["alibi_bias"], bias_oracle, MISTAKES))
