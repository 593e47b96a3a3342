"""Encodings and layers with one part done wrong: what the banks of known mistakes are made of."""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.positional_encoding.reference import Rates, rates, reference_encoding, turns

Layout = Literal["pairs", "halves", "swapped", "sines", "transposed", "batched"]
Odd = Literal["ValueError", "RuntimeError", "AssertionError", "accepted"]
Dropping = Literal["sum", "none", "always", "positions"]
_ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (ValueError, RuntimeError, AssertionError)
}


def encoding_variant(
    *,
    angle_per_position: Rates = rates,
    layout: Layout = "pairs",
    first: float = 0.0,
    odd: Odd = "ValueError",
    flipped: bool = False,
) -> Callable[[int, int], Tensor]:
    """Build a sinusoidal encoding with the given choices.

    Args:
        angle_per_position: width -> the rate of each pair.
        layout: where sines and cosines stand.
        first: the number of the first position.
        odd: what happens when d_model is odd.
        flipped: whether the columns come in reverse order.

    """

    def encoding(max_len: int, d_model: int) -> Tensor:
        if d_model % 2 and odd in _ERRORS:
            raise _ERRORS[odd]("d_model is odd")
        width = d_model + d_model % 2
        circles = turns(torch.arange(max_len) + first, angle_per_position(width))
        table = _laid_out(circles, layout).float()
        return table.flip(-1) if flipped else table

    return encoding


def _laid_out(circles: Tensor, layout: Layout) -> Tensor:
    sines, cosines = circles.imag, circles.real
    if layout == "halves":
        return torch.cat([sines, cosines], -1)
    both = {"swapped": (cosines, sines), "sines": (sines, sines)}.get(layout, (sines, cosines))
    table = torch.stack(both, -1).flatten(1)
    return {"transposed": table.T, "batched": table[None]}.get(layout, table)


def unpaired_encoding(max_len: int, d_model: int) -> Tensor:
    """Every column with a rate of its own: sin and cos of a pair no longer belong together."""
    if d_model % 2:
        raise ValueError("d_model is odd")
    exponent = torch.arange(d_model).double() / d_model
    angles = torch.arange(max_len)[:, None] * 10000.0**-exponent
    even = torch.arange(d_model) % 2 == 0
    return torch.where(even, angles.sin(), angles.cos()).float()


class LayerVariant(nn.Module):
    """A layer that adds positions, with choices; derived classes set them.

    Attributes:
        learned: whether the table is trained (and called weight, not pe).
        kept_as: how the table is kept: as it should be, or "attribute", "parameter", "buffer",
            "frozen" or "embedding" (a module in the module).
        along: the axis of x along which positions run.
        rows: which rows of the table are taken: the first, the last, all, or from the second on.
        limit: how many positions more than max_len are let through before ValueError; None for
            no ValueError at all.
        factor: d_model -> what x is multiplied by.
        sum_factor: d_model -> what the sum is multiplied by.
        dropping: what dropout acts on.
        float32: whether the result is cast.
        table_alone: whether x is left out of the sum.
        own_rate: a share to drop out in place of the given one.
        start: what the rows of a learned table are drawn as, times a normal number.

    """

    learned = False
    kept_as = ""
    along = 1
    rows: Literal["first", "last", "all", "from one"] = "first"
    limit: int | None = 0
    factor: Any = staticmethod(lambda d_model: 1.0)
    sum_factor: Any = staticmethod(lambda d_model: 1.0)
    dropping: Dropping = "sum"
    float32 = False
    table_alone = False
    own_rate: float | None = None
    start = 1.0

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.0) -> None:
        super().__init__()
        self.max_len = max_len
        self.dropout = dropout if self.own_rate is None else self.own_rate
        name = "weight" if self.learned else "pe"
        drawn = self.start * torch.randn(max_len, d_model)
        table = drawn if self.learned else reference_encoding(max_len, d_model)
        kept_as = self.kept_as or ("parameter" if self.learned else "buffer")
        if kept_as == "attribute":
            setattr(self, name, table)
        elif kept_as == "buffer":
            self.register_buffer(name, table)
        elif kept_as == "embedding":
            self.rows_of = nn.Embedding(max_len, d_model)
        else:
            setattr(self, name, nn.Parameter(table, kept_as != "frozen"))

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> the same, positions added."""
        if self.limit is not None and x.shape[1] > self.max_len + self.limit:
            raise ValueError("too long")
        table = self.rows_of.weight if self.kept_as == "embedding" else self._own_table()
        rows = self._chosen(table, x.shape[self.along])
        rows = rows if self.along == 1 else rows.unsqueeze(1)
        width = x.shape[-1]
        result: Tensor = self._sum(x * type(self).factor(width), rows)
        result = result * type(self).sum_factor(width)
        return result.float() if self.float32 else result

    def _own_table(self) -> Any:
        return self.weight if self.learned else self.pe

    def _chosen(self, table: Any, n: int) -> Any:
        choices = {"first": table[:n], "last": table[-n:], "from one": table[1 : n + 1]}
        return choices.get(self.rows, table)

    def _sum(self, x: Tensor, rows: Tensor) -> Tensor:
        if self.table_alone:
            return rows.expand_as(x)
        if self.dropping == "positions":
            return x + F.dropout(rows, self.dropout, self.training)
        acts = {"none": False, "always": True}.get(self.dropping, self.training)
        return F.dropout(x + rows, self.dropout, acts)


def layer_variant(**choices: Any) -> type[LayerVariant]:
    """A class like PositionalEncoding or LearnedPositionalEncoding, with the given choices."""
    return type("Layer", (LayerVariant,), choices)


class EmbeddingVariant(nn.Module):
    """The token embedding with choices; derived classes set them.

    Attributes:
        factor: (V, D) -> what the rows are multiplied by.
        zeroed: whether the padding row starts at zero.
        masked: whether the padding row is kept out of the result (and so of training).
        fixed_padding: whether padding_idx is ignored and 0 taken.
        frozen: whether the table is not trained.
        float32: whether the result is cast.

    """

    factor: Any = staticmethod(lambda words, d_model: d_model**0.5)
    zeroed = True
    masked = True
    fixed_padding = False
    frozen = False
    float32 = False

    def __init__(self, vocab_size: int, d_model: int, padding_idx: int = 0) -> None:
        super().__init__()
        self.row = 0 if self.fixed_padding else padding_idx
        table = torch.randn(vocab_size, d_model)
        if self.zeroed:
            table[self.row] = 0.0
        self.table = nn.Parameter(table, not self.frozen)

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, D), by products with one-hot rows."""
        words, width = self.table.shape
        one_hot = F.one_hot(ids, words).to(self.table.dtype)
        if self.masked:
            one_hot = one_hot * (torch.arange(words) != self.row)
        result: Tensor = one_hot @ self.table * type(self).factor(words, width)
        return result.float() if self.float32 else result


def embedding_variant(**choices: Any) -> type[EmbeddingVariant]:
    """A class like TokenEmbedding, with the given choices."""
    return type("TokenEmbedding", (EmbeddingVariant,), choices)


def rotary_variant(
    *,
    angle_per_position: Callable[[int, float], Tensor] = rates,
    direction: int = 1,
    axis: int = -2,
    first: int = 0,
    layout: Literal["pairs", "halves", "unwoven"] = "pairs",
    ignores_base: bool = False,
    added: bool = False,
    second_from_turned: bool = False,
    both_plus: bool = False,
    keeps_dtype: bool = True,
) -> Callable[..., Tensor]:
    """Build a rotary embedding with the given choices.

    Args:
        angle_per_position: (width, base) -> the rate of each pair.
        direction: 1 as asked for, -1 the other way round.
        axis: which axis of x counts positions.
        first: the number of the first position.
        layout: which columns make a pair, and how the result is put together.
        ignores_base: take 10,000 whatever is asked for.
        added: add sines and cosines where a rotation was meant.
        second_from_turned: the second column is made from the first one's new value.
        both_plus: neither formula has a minus sign.
        keeps_dtype: whether the result has x's dtype.

    """

    def rotary(x: Tensor, base: float = 10000.0) -> Tensor:
        width = x.shape[-1]
        a, b = _columns(x, layout)
        rate = angle_per_position(width, 10000.0 if ignores_base else base)
        circles = turns(direction * (torch.arange(x.shape[axis]) + first), rate).to(_complex(x))
        circles = circles if axis == -2 else circles.unsqueeze(1)
        cos, sin = circles.real, circles.imag
        turned = (
            a * cos + (b if both_plus else -b) * sin,
            (a * cos - b * sin if second_from_turned else a) * sin + b * cos,
        )
        result = _together(*((a + sin, b + cos) if added else turned), layout=layout)
        return result.to(x.dtype) if keeps_dtype else result

    return rotary


def _complex(x: Tensor) -> torch.dtype:
    return torch.complex128 if x.dtype == torch.float64 else torch.complex64


def _columns(x: Tensor, layout: str) -> tuple[Tensor, Tensor]:
    if layout == "halves":
        first, second = x.chunk(2, -1)
        return first, second
    return x[..., 0::2], x[..., 1::2]


def _together(a: Tensor, b: Tensor, *, layout: str) -> Tensor:
    if layout == "pairs":
        return torch.stack([a, b], -1).flatten(-2)
    return torch.cat([a, b], -1)
