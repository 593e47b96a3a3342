"""Encodings, shifts and rotations with one part done wrong, from which known mistakes are made.

Frequencies are computed in float32, as people do: where they grow to thousands, a wrong answer and
its variant then agree to the last digit.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from utils.checks.framework.combining import by_choices
from utils.reference.positions import BASE

Layout = Literal[
    "pairs",
    "halves",
    "swapped",
    "sines",
    "cosines",
    "rows",
    "root",
    "negated",
    "stacked",
    "of the sines",
]
Placed = Literal["pairs", "halves", "stack", "by columns", "by rows"]
Spacing = Literal[
    "",
    "one",
    "floored",
    "to the base",
    "power divided",
    "width divided",
    "index behind",
    "index below",
    "exp of the index",
]
Taken = Literal[
    "", "every other", "every other, apart", "halves", "half and every other", "all", "mean"
]
Blank = Literal["", "last pair", "second half", "all"]
Meets = Literal["product", "power", "height"]
Odd = Literal["ValueError", "RuntimeError", "AssertionError", "accepted"]
_ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (ValueError, RuntimeError, AssertionError)
}


# (frequencies of so many columns, D) -> those of the sines and those of the cosines.
_TAKEN: dict[Taken, Callable[[Callable[[int], Tensor], int], tuple[Tensor, Tensor]]] = {
    "every other": lambda of, width: (of(width)[0::2], of(width)[0::2]),
    "every other, apart": lambda of, width: (of(width)[0::2], of(width)[1::2]),
    "halves": lambda of, width: (of(2 * width)[: width // 2], of(2 * width)[width // 2 :]),
    "half and every other": lambda of, width: (of(width), of(2 * width)[: width // 2]),
    "all": lambda of, width: (of(2 * width), of(2 * width)),
    "mean": lambda of, width: (of(2 * width).view(-1, 2).mean(1),) * 2,
}


def frequencies(
    width: int,
    exponent: float = -2.0,
    base: float = BASE,
    spacing: Spacing = "",
    step: float = 0.0,
) -> Tensor:
    """Return the angle per position of each pair: (width / 2,), float32.

    Args:
        width: number of columns.
        exponent: what i / width is multiplied by; the right one is -2.
        base: what is raised to that power.
        spacing: "one" for all pairs; the exponent "floored"; "to the base" itself; the power and
            not the exponent divided by the width ("power divided"), in the denominator of the
            angle ("width divided"); i multiplied with the power ("index behind"), in the
            denominator ("index below"), or raised alone ("exp of the index").
        step: what is added to i.

    """
    i = torch.arange(width // 2) + step
    if spacing in _SPACED:
        return _SPACED[spacing](i, exponent, base, width)
    return base ** (exponent * i / width)


_SPACED: dict[Spacing, Callable[[Tensor, float, float, int], Tensor]] = {
    "one": lambda i, exponent, base, width: torch.ones(width // 2),
    "floored": lambda i, exponent, base, width: base ** (exponent * i / width).floor(),
    "to the base": lambda i, exponent, base, width: (
        base ** (exponent / 2 * i / max(width // 2 - 1, 1))
    ),
    "power divided": lambda i, exponent, base, width: base ** (exponent * i) / width,
    "width divided": lambda i, exponent, base, width: base ** (exponent * i) * width,
    "index behind": lambda i, exponent, base, width: base**exponent * i / width,
    "index below": lambda i, exponent, base, width: 1 / (base**-exponent * i / width),
    "exp of the index": lambda i, exponent, base, width: (
        (-exponent * i).exp() * -math.log(base) / width
    ),
}


def _written(pairs: int, blank: Blank) -> int:
    """Return how many pairs are written if the others stay zero."""
    written = {"last pair": pairs - 1, "second half": (pairs + 1) // 2, "all": 0}
    return written.get(blank, pairs)


@by_choices
def encoding_variant(
    *,
    layout: Layout = "pairs",
    form: Literal["table", "transposed", "batched"] = "table",
    first: float = 0.0,
    over_length: bool = False,
    sine: float = 1.0,
    sine_step: float = 0.0,
    cosine_step: float = 0.0,
    odd: Odd = "ValueError",
    flipped: bool = False,
    taken: Taken = "",
    meets: Meets = "product",
    blank: Blank = "",
    unit: bool = False,
    **spaced: Any,
) -> Callable[[int, int], Tensor]:
    """Build a sinusoidal encoding with the given choices.

    Args:
        layout: where sines and cosines go; in "rows", every second one holds cosines alone; for
            "root", cosines are made of the sines; "negated" ones have the wrong sign, and some are
            "of the sines"; "stacked" are all sines on top of all cosines, cut anew into rows of D.
        form: which axes the table has.
        first: the number of the first position.
        over_length: whether positions are divided by max_len.
        sine: the sign of the angles.
        sine_step: how much larger than its pair's number a sine's is.
        cosine_step: how much larger than its pair's number a cosine's is.
        odd: what happens if d_model is odd.
        flipped: whether the columns come in reverse order.
        taken: which frequencies the sines and the cosines get.
        meets: what position and frequency make: a product; the position raised to the frequency
            ("power"); the sine of the position times the frequency ("height").
        blank: which pairs stay zero.
        unit: whether each pair is brought to length one.
        spaced: how the frequencies are chosen.

    """

    def encoding(max_len: int, d_model: int) -> Tensor:
        if d_model % 2 and odd in _ERRORS:
            raise _ERRORS[odd]("d_model is odd")
        width = d_model + d_model % 2
        places = sine * (torch.arange(max_len) + first)
        places = (places / max_len if over_length else places).unsqueeze(1)
        steps = sine_step, cosine_step
        rates = [frequencies(width, **spaced, step=step) for step in steps]
        if taken:
            rates = [*_TAKEN[taken](lambda columns: frequencies(columns, **spaced), width)]
        table = _met(places, rates, meets, layout)
        table = _of_length_one(table) if unit else table
        table[:, 2 * _written(table.shape[1] // 2, blank) :] *= 0
        table = table.flip(-1) if flipped else table
        return {"transposed": table.T, "batched": table[None]}.get(form, table)

    return encoding


def _of_length_one(table: Tensor) -> Tensor:
    return torch.nn.functional.normalize(table.view(len(table), -1, 2), dim=-1).flatten(1)


def _met(places: Tensor, rates: Sequence[Tensor], meets: Meets, layout: Layout) -> Tensor:
    """Return the table that positions and the rates of sines and of cosines make."""
    if meets == "height":
        return torch.stack([places.sin() * rates[0], places.cos() * rates[1]], -1).flatten(1)
    angles = [places**rate if meets == "power" else places * rate for rate in rates]
    return _laid_out(angles[0], angles[1], layout)


def _laid_out(for_sines: Tensor, for_cosines: Tensor, layout: Layout) -> Tensor:
    sines, cosines = for_sines.sin(), for_cosines.cos()
    if layout == "halves":
        return torch.cat([sines, cosines], -1)
    if layout == "stacked":
        return torch.stack([sines, cosines]).reshape(len(sines), -1)
    others = {
        "swapped": (cosines, sines),
        "sines": (sines, for_cosines.sin()),
        "cosines": (for_sines.cos(), cosines),
        "rows": (_by_rows(for_sines), _by_rows(for_cosines)),
        "root": (sines, (1 - sines.square()).sqrt()),
        "negated": (sines, -cosines),
        "of the sines": (sines, sines.cos()),
    }
    return torch.stack(others.get(layout, (sines, cosines)), -1).flatten(1)


def _by_rows(angles: Tensor) -> Tensor:
    """Return sines in the rows 0, 2, ... and cosines in the others."""
    is_even = torch.arange(len(angles)).unsqueeze(1) % 2 == 0
    return torch.where(is_even, angles.sin(), angles.cos())


@by_choices
def shift_variant(
    *,
    offset_as: Literal["given", "size", "one", "next", "forwards"] = "given",
    direction: int = 1,
    corners: Literal["right", "both plus", "both minus", "empty"] = "right",
    second: float = 1.0,
    diagonal: float | None = None,
    exchanged: bool = False,
    layout: Placed = "pairs",
    added: float = 0.0,
    blank: Blank = "",
    first_alone: bool = False,
    **spaced: Any,
) -> Callable[[int, int], Tensor]:
    """Build a shift matrix with the given choices.

    Args:
        offset_as: whether its sign is lost ("size"), it is always "one", one more ("next"), or
            zero if it is negative ("forwards").
        direction: 1 as asked for, -1 the other way.
        corners: the signs of the sines, or none at all.
        second: the factor on the second cosine of a block.
        diagonal: what stands in place of the cosines.
        exchanged: whether sines and cosines change places.
        layout: which columns form a pair, or the blocks on top of one another, or all blocks filled
            with the entries that belong on the diagonal ("by columns", "by rows").
        added: this many identities are added.
        blank: which pairs stay zero.
        first_alone: whether all pairs but the first stay where they are.
        spaced: how the frequencies are chosen.

    """

    def shift(offset: int, d_model: int) -> Tensor:
        moves = {"size": abs(offset), "one": 1, "next": offset + 1, "forwards": max(offset, 0)}
        by = moves.get(offset_as, offset)
        angles = direction * by * frequencies(d_model, **spaced)
        angles[1:] *= not first_alone
        cos, sin = angles.cos(), angles.sin()
        cos, sin = (sin, cos) if exchanged else (cos, sin)
        cos = cos if diagonal is None else torch.full_like(cos, diagonal)
        signs = {"both plus": (1, 1), "both minus": (-1, -1), "empty": (0, 0)}
        up, down = signs.get(corners, (1, -1))
        blocks = torch.stack([cos, up * sin, down * sin, second * cos], -1).view(-1, 2, 2)
        blocks[_written(d_model // 2, blank) :] *= 0
        return _placed(blocks + added * torch.eye(2), layout)

    return shift


def _placed(blocks: Tensor, layout: str) -> Tensor:
    if layout == "stack":
        return blocks
    if layout in {"by columns", "by rows"}:
        pairs = len(blocks)
        wide = blocks.unsqueeze(2) if layout == "by rows" else blocks.transpose(0, 1)
        return wide.expand(pairs, 2, pairs, 2).reshape(2 * pairs, -1)
    matrix: Tensor = torch.block_diag(*blocks)  # type: ignore[no-untyped-call]
    columns = torch.arange(len(matrix))
    order = columns.view(-1, 2).T.flatten() if layout == "halves" else columns
    return matrix[order][:, order]


@by_choices
def rotary_variant(
    *,
    direction: int = 1,
    axis: Literal["positions", "heads", "batch", "stray"] = "positions",
    first: int = 0,
    layout: Literal["pairs", "halves", "unwoven"] = "pairs",
    exchanged: bool = False,
    ignores_base: bool = False,
    of_offset: int = 1,
    strides: Callable[[int], int] = lambda offset: 1,
    to_angles: bool = False,
    added: bool = False,
    second_from_turned: bool = False,
    both: Literal["", "plus", "minus"] = "",
    repeated: bool = False,
    keeps_dtype: bool = True,
    short_angles: bool = False,
    whole: bool = False,
    over_heads: bool = False,
    last_left: bool = False,
    of_columns: Callable[[int], int] = lambda width: width,
    alone_left: bool = False,
    ends: Literal["", "at T", "at T or with the first"] = "",
    **spaced: Any,
) -> Callable[..., Tensor]:
    """Build a rotary embedding with the given choices.

    Args:
        direction: 1 as asked for, -1 the other way round.
        axis: the axis of x that counts positions; "stray" angles have one for heads too late.
        first: the number of the first position.
        layout: which columns form a pair, and how the result is put together.
        exchanged: whether sines and cosines change places.
        ignores_base: whether base is always 10,000.
        of_offset: how many times the offset is added to the positions.
        strides: offset -> what the positions are multiplied by.
        to_angles: whether the offset is added to the angles.
        added: whether sines and cosines are added instead of rotating.
        second_from_turned: whether the second column uses the new value of the first.
        both: the sign before both sines, where one is plus and the other minus.
        repeated: whether angles come in two halves while pairs are neighbours.
        keeps_dtype: whether the result has x's dtype.
        short_angles: whether angles are computed in x's dtype.
        whole: whether angles are rounded down to whole numbers.
        over_heads: whether the exponent is divided by the width of all heads together.
        last_left: whether the last pair is left as it is.
        of_columns: Dh -> how many columns, the first ones, are turned.
        alone_left: whether the only word of a sentence is.
        ends: whether positions end "at T" wherever they begin, or there is one at least.
        spaced: how the frequencies are chosen.

    """

    def rotary(x: Tensor, base: float = BASE, offset: int = 0) -> Tensor:
        width = x.shape[-1]
        if alone_left and x.shape[-2] == 1:
            return x.clone()
        a, b = _columns(x, layout)
        spaced_so = spaced | ({"exponent": -2.0 / x.shape[1]} if over_heads else {})
        rates = frequencies(width, base=BASE if ignores_base else base, **spaced_so)
        rates[-1] *= 0 if last_left else 1
        starts = first + of_offset * offset
        past = max(0, starts + 1 - x.shape[-2]) if "first" in ends else 0
        places = _places(x, axis, starts, past if ends else starts)
        places = places * strides(offset)
        angles = direction * _angles(places, rates, axis, x.dtype if short_angles else None)
        angles = angles + offset if to_angles else angles
        angles = angles.floor() if whole else angles
        ways = _per_column(angles, repeated=repeated)
        cos, sin = [w.cos() for w in ways], [w.sin() for w in ways]
        cos, sin = (sin, cos) if exchanged else (cos, sin)
        before, after = {"plus": (1, 1), "minus": (-1, -1)}.get(both, (-1, 1))
        turned = a * cos[0] + before * b * sin[0]
        pair = turned, (turned if second_from_turned else a) * after * sin[1] + b * cos[1]
        pair = (a + sin[0], b + cos[0]) if added else pair
        result = _together(*pair, layout=layout)
        kept = of_columns(width)
        result = torch.cat([result[..., :kept], x[..., kept:]], -1)
        return result.to(x.dtype) if keeps_dtype else result

    return rotary


def _places(x: Tensor, axis: str, first: int, beyond: int) -> Tensor:
    """Return the numbers of the positions: from `first` up to the axis' size and `beyond`."""
    counted = {"heads": 1, "batch": 0}.get(axis, -2)
    return torch.arange(first, x.shape[counted] + beyond)


def _angles(places: Tensor, rates: Tensor, axis: str, short: torch.dtype | None) -> Tensor:
    """Return the angles, in a short type if there is one, with the axes that they meet x with."""
    dtype = short or torch.float32
    angles = places.to(dtype).unsqueeze(1) * rates.to(dtype)
    behind = {"heads": 1, "batch": 2, "stray": 1}.get(axis, 0)
    return angles.view(len(places), *[1] * behind, -1)


def _per_column(angles: Tensor, *, repeated: bool) -> tuple[Tensor, Tensor]:
    """Return the angles of the first and of the second columns."""
    if not repeated:
        return angles, angles
    twice = torch.cat([angles, angles], -1)
    return twice[..., 0::2], twice[..., 1::2]


def _columns(x: Tensor, layout: str) -> tuple[Tensor, Tensor]:
    if layout == "halves":
        first, second = x.chunk(2, -1)
        return first, second
    return x[..., 0::2], x[..., 1::2]


def _together(a: Tensor, b: Tensor, *, layout: str) -> Tensor:
    if layout == "pairs":
        return torch.stack([a, b], -1).flatten(-2)
    return torch.cat([a, b], -1)
