"""Layers with one part done wrong, from which known mistakes are made."""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.authoring.dropping import ones_along
from utils.checks.framework.combining import by_choices
from utils.reference.positions import reference_encoding

Dropping = Literal[
    "sum", "none", "always", "positions", "words", "twice", "sum twice", "unscaled", "shrunk"
]


class LayerVariant(nn.Module):
    """A layer that adds positions, with choices that derived classes set.

    Attributes:
        learned: whether the table is trained (and called weight, not pe).
        kept_as: how the table is kept: rightly (""), or as an "attribute", "parameter", "buffer",
            "frozen" parameter, "embedding" (a module in the module), as what register_buffer
            returns ("assigned"), as an attribute "beside" a buffer of zeros, as a copy made in
            __init__ ("copied"), beside the parameter, or as a whole "module" under its name.
        recast: whether the table that is kept takes on x's number type.
        all_rows: how many rows the table has whatever max_len is, if any.
        shaped: whether the learned table has a "row" for each position, one "number" for each, is
            "turned", or has an "even" number of columns.
        along: the axis of x that positions run along; "longer" for the longer of the first two.
        turned: whether rows that run along the batch get an axis for the words.
        rows: which rows of the table are taken.
        remembers: whether the rows of the first call are kept.
        limit: how many positions past max_len are accepted before ValueError; None for no
            ValueError at all.
        measured: the axis of x that is compared with max_len.
        in_training: whether it is compared in train mode only.
        past: what words past max_len get: nothing special (""), they are "cut" off, rows "again"
            from the first one, the "last" row, or rows by which the table has "grown".
        factor: d_model -> what x is multiplied by.
        sum_factor: d_model -> what the sum is multiplied by.
        joined: what becomes of x and the rows.
        only_in_training: whether eval mode adds nothing.
        dropping: what dropout acts on; "twice" is the words and the sum, "unscaled" the sum, of
            which what is kept stays as it is; "shrunk" the sum, which eval mode makes smaller.
        at_once: the axes of the sum along which all entries are dropped together.
        share: the given rate -> the share that is dropped.
        float32: whether the result is cast to float32.
        keeps_type: whether the result has x's number type.
        own_rate: a dropout rate that replaces the given one.
        default_rate: the dropout rate if none is given.
        start: the factor on the normal numbers that a learned table starts with.
        counts: whether a learned table starts with the numbers of its rows.
        odd: whether it can have an odd number of columns.

    """

    learned = False
    pe: Any
    kept_as = ""
    recast = False
    shaped: Literal["row", "number", "turned", "even"] = "row"
    along: int | Literal["longer"] = 1
    turned = True
    rows: str = "first"
    remembers = False
    limit: int | None = 0
    measured = 1
    in_training = False
    past: Literal["", "cut", "again", "last", "grown"] = ""
    all_rows: int | None = None
    factor: Any = staticmethod(lambda d_model: 1.0)
    sum_factor: Any = staticmethod(lambda d_model: 1.0)
    joined: Literal["sum", "rows", "words", "product", "beside"] = "sum"
    only_in_training = False
    dropping: Dropping = "sum"
    at_once: tuple[int, ...] = ()
    share: Any = staticmethod(lambda rate: rate)
    float32 = False
    keeps_type = True
    own_rate: float | None = None
    default_rate = 0.0
    start = 1.0
    counts = False
    odd = True

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float | None = None) -> None:
        super().__init__()
        self.max_len = max_len
        given = self.default_rate if dropout is None else dropout
        self.dropout = type(self).share(given) if self.own_rate is None else self.own_rate
        self.kept_rows: Any = None
        rows = self.all_rows or max_len
        table = self._drawn(rows, d_model)
        if not self.learned or not self.odd:
            table = reference_encoding(rows, d_model)
        self._keep(table)

    def _drawn(self, max_len: int, d_model: int) -> Tensor:
        even = d_model - d_model % 2
        shapes = {"number": (max_len, 1), "turned": (d_model, max_len), "even": (max_len, even)}
        drawn = self.start * torch.randn(shapes.get(self.shaped, (max_len, d_model)))
        return torch.arange(max_len)[:, None].float().expand_as(drawn) if self.counts else drawn

    def _keep(self, table: Tensor) -> None:
        name = "weight" if self.learned else "pe"
        kept_as = self.kept_as or ("parameter" if self.learned else "buffer")
        if kept_as == "attribute":
            setattr(self, name, table)
        elif kept_as in {"buffer", "assigned"}:
            self.register_buffer(name, None if kept_as == "assigned" else table)
        elif kept_as == "beside":
            self.register_buffer(name, torch.zeros_like(table))
            self.table = table
        elif kept_as == "embedding":
            self.rows_of = nn.Embedding(*table.shape)
        elif kept_as == "module":
            setattr(self, name, nn.Embedding(*table.shape))
        else:
            self.table = table.clone()
            setattr(self, name, nn.Parameter(table.clone(), kept_as != "frozen"))

    def forward(self, x: Tensor) -> Tensor:
        """Add positions to x (B, T, D)."""
        asks = self.training or not self.in_training
        if asks and self.limit is not None and x.shape[self.measured] > self.max_len + self.limit:
            raise ValueError("too long")
        if self.past == "cut":
            x = x[:, : self.max_len]
        if self.recast:
            self.pe = self.pe.to(x.dtype)
        along = int(x.shape[1] >= x.shape[0]) if self.along == "longer" else self.along
        rows = self._chosen(x.shape[along])
        rows = rows if along == 1 or not self.turned else rows.unsqueeze(1)
        rows = rows.to(x.dtype) if self.keeps_type else rows
        width = x.shape[-1]
        result: Tensor = self._joined(x * type(self).factor(width), rows)
        result = result * type(self).sum_factor(width)
        return result.float() if self.float32 else result

    def _own_table(self) -> Any:
        if self.kept_as in {"embedding", "beside", "copied"}:
            return self.rows_of.weight if self.kept_as == "embedding" else self.table
        own: Any = self.weight if self.learned else self.pe
        return own.T if self.shaped == "turned" else own

    def _chosen(self, n: int) -> Any:
        if self.remembers and self.kept_rows is not None:
            return self.kept_rows
        table = self._own_table()
        if n > len(table):
            table = self._stretched(table, n)
        choices = {
            "last": table[-n:],
            "all": table,
            "from one": table[1 : n + 1],
            "the last alone": table[n - 1 : n],
            "backwards": table[:n].flip(0),
            "mean": table[:n].mean(0, keepdim=True),
            "added up": table[:n].cumsum(0),
        }
        self.kept_rows = (
            table[n] if self.rows == "the next alone" else choices.get(self.rows, table[:n])
        )
        return self.kept_rows

    def _stretched(self, table: Any, n: int) -> Any:
        """Return rows for more words than the table has."""
        if self.past == "grown":
            return torch.cat([table, torch.ones(n - len(table), table.shape[1])])
        places = torch.arange(n)
        ways = {"again": places % len(table), "last": places.clamp(max=len(table) - 1)}
        return table[ways[self.past]] if self.past in ways else table

    def _joined(self, x: Tensor, rows: Tensor) -> Tensor:
        if self.dropping == "positions":
            rows = F.dropout(rows, self.dropout, self.training)
        if self.dropping in {"words", "twice"}:
            x = F.dropout(x, self.dropout, self.training)
        in_part = {"none": False, "positions": False, "words": False, "always": True}
        acts = in_part.get(self.dropping, self.training)
        joined = "words" if self.only_in_training and not self.training else self.joined
        return self._dropped(_JOINED[joined](x, rows), acts)

    def _dropped(self, x: Tensor, acts: bool) -> Tensor:
        if self.at_once:
            return x * F.dropout(ones_along(x, self.at_once), self.dropout, acts)
        if self.dropping == "shrunk" and not acts:
            return x * (1 - self.dropout)
        once = F.dropout(x, self.dropout, acts)
        if self.dropping == "unscaled" and acts:
            return once * (1 - self.dropout)
        return F.dropout(once, self.dropout, acts) if self.dropping == "sum twice" else once


_JOINED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": torch.add,
    "rows": lambda x, rows: rows.expand_as(x),
    "words": lambda x, rows: x.clone(),
    "product": torch.mul,
    "beside": lambda x, rows: torch.cat([x, rows.expand_as(x)], -1),
}


@by_choices
def layer_variant(**choices: Any) -> type[LayerVariant]:
    """Return a class like PositionalEncoding or LearnedPositionalEncoding, with the choices."""
    return type("Layer", (LayerVariant,), choices)


class EmbeddingVariant(nn.Module):
    """TokenEmbedding with choices that derived classes set.

    Attributes:
        factor: (V, D) -> what the rows are multiplied by.
        trained_factor: whether that factor is a second parameter.
        zeroed: whether the padding row starts at zero.
        masked: whether gradients are kept from the padding row.
        fixed_padding: whether padding_idx is ignored and 0 used instead.
        frozen: whether the table is not trained.
        turned: whether the table is (D, V).
        anew: whether the table is made in forward.
        biased: whether a bias is a second parameter.
        projected: whether a linear layer follows, with a bias ("bias") or without ("plain"), or a
            layer norm ("norm").
        unit: whether rows are brought to length one first.
        remembers: whether the scaled table of the first call is kept.
        grows: whether the table itself is scaled, at every call.
        no_row_0: whether a padding_idx of 0 is taken for none.
        clears_0: whether the result for id 0 is set to zero, whatever padding_idx is.
        float32: whether the result is cast to float32.

    """

    factor: Any = staticmethod(lambda words, d_model: d_model**0.5)
    trained_factor = False
    zeroed = True
    masked = True
    fixed_padding = False
    frozen = False
    turned = False
    anew = False
    biased = False
    projected: Literal["", "plain", "bias", "norm"] = ""
    unit = False
    remembers = False
    grows = False
    no_row_0 = False
    clears_0 = False
    float32 = False

    def __init__(self, vocab_size: int, d_model: int, padding_idx: int = 0) -> None:
        super().__init__()
        self.row = 0 if self.fixed_padding else padding_idx
        table = torch.randn(vocab_size, d_model)
        if self.no_row_0 and padding_idx == 0:
            self.row = -1  # no id
        elif self.zeroed:
            table[self.row] = 0.0
        table = table.T if self.turned else table
        self.table: Any = table if self.anew else nn.Parameter(table, not self.frozen)
        if self.trained_factor:
            self.scale = nn.Parameter(torch.tensor(d_model**0.5))
        if self.biased:
            self.bias = nn.Parameter(torch.randn(d_model))
        if self.projected == "norm":
            self.norm = nn.LayerNorm(d_model)
        elif self.projected:
            self.linear = nn.Linear(d_model, d_model, bias=self.projected == "bias")
        self.scaled: Any = None

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to (B, T, D) by products with one-hot rows."""
        table = self.table.T if self.turned else self.table
        words, width = table.shape
        if self.grows:
            table.data.mul_(type(self).factor(words, width))
        table = F.normalize(table, dim=-1) if self.unit else table
        table = table * (1.0 if self.grows else type(self).factor(words, width))
        if self.remembers:
            table = self.scaled = table if self.scaled is None else self.scaled
        if self.masked:
            is_row = (torch.arange(words) == self.row).unsqueeze(1)
            table = torch.where(is_row, table.detach(), table)
        result: Tensor = F.one_hot(ids, words).to(table.dtype) @ table
        result = result + self.bias if self.biased else result
        if self.clears_0:
            result = result.masked_fill((ids == 0).unsqueeze(-1), 0.0)
        return result.float() if self.float32 else result


@by_choices
def embedding_variant(**choices: Any) -> type[EmbeddingVariant]:
    """Return a class like TokenEmbedding, with the given choices."""
    return type("TokenEmbedding", (EmbeddingVariant,), choices)
