"""Multi-head attention with one part done wrong, from which known mistakes are made."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.combining import by_choices
from utils.checks.lessons.attention.masking import Masking, Softmax, masked_softmax
from utils.checks.lessons.attention.variants import RETURNED, q_k_transposed
from utils.reference.attention import reference_attention
from utils.reference.heads import reference_merge, reference_split

_ON_WEIGHTS = ("weights", "twice", "inside", "always", "calm", "unscaled", "kept")


def view_split(x: Tensor, n_heads: int) -> Tensor:
    """Cut the features of a sentence as if they were one long row: right in shape only."""
    return x.reshape(len(x), n_heads, x.shape[1], -1)


def view_merge(x: Tensor) -> Tensor:
    """Read the heads out one after another as one long row: right in shape only."""
    return x.reshape(len(x), x.shape[2], -1)


def paired_split(x: Tensor, n_heads: int) -> Tensor:
    """Lay the heads of all sentences under one another, and take them for sentence by sentence."""
    size, length, width = x.shape
    return torch.cat(x.chunk(n_heads, -1)).view(size, n_heads, length, width // n_heads)


def interleaved_split(x: Tensor, n_heads: int) -> Tensor:
    """Give head h every H-th feature, starting at h."""
    return torch.stack([x[..., h::n_heads] for h in range(n_heads)], 1)


def interleaved_merge(x: Tensor) -> Tensor:
    """Join feature 0 of all heads, then feature 1 of all heads, and so on."""
    return torch.stack(x.unbind(1), -1).flatten(-2)


def repeated_merge(x: Tensor) -> Tensor:
    """Average the heads, and repeat the average to fill up D."""
    return x.mean(1).repeat(1, 1, x.shape[1])


def summed_merge(x: Tensor) -> Tensor:
    """Add the heads up, and repeat the sum to fill up D."""
    return x.sum(1).repeat(1, 1, x.shape[1])


class HeadsVariant(nn.Module):
    """MultiHeadAttention with choices that derived classes set.

    Attributes:
        split, merge: how heads are cut and joined.
        scale: (D, Dh) -> factor on the scores.
        product: (q, k) -> scores before the scale.
        masking, fill, axis, softmax: as in `masked_softmax`.
        projected: which of w_q, w_k, w_v, w_o are used.
        through: the layers that queries, keys and values go through, in this order.
        swapped: what trades places after projection: queries and keys ("qk"), keys and values
            ("kv"), or nothing.
        keys, values: the argument ("query", "key" or "value") that they come from.
        as_long: whether keys and values are cut as if there were as many as queries.
        placed: the mask's axis for heads: "shared", "none", "two" axes, "repeated" for heads
            that stand in front of the batch, where they stand behind it, "stretched" over the
            heads without an axis for them, "viewed" as if it had a row for every query, or
            "behind" the queries.
        keeps_mask: whether the mask of the last call that had one is used where none is given.
        clears_empty: whether the output of a row with nothing allowed is set to zero.
        out: where w_o acts: at the "end", or on the "values".
        added: whether the query is added to the output.
        one_head: which of queries, keys and values are one head's in all heads, as in multi-query
            attention; `made_one` by taking the "first", the "mean", or that of every other head
            ("pairs").
        dropped: what dropout acts on: "weights", "scores", "values", "context", "output", "twice"
            (weights and output), "inside" (weights and context), "queries", "nothing", "apart" (the
            scores behind the output, and not those behind the weights that come back), "always"
            (the weights, in eval mode too), "calm" (the weights, in eval mode alone), "unscaled"
            (what is kept is not scaled up) or "kept" (the rate is the share that stays).
        returned: "weights", "dropped" (weights after dropout), "mean" over heads, or "turned" with
            queries before heads.
        results: what comes back, a name in RETURNED of lesson 02.
        own_rate: a dropout rate that replaces the given one.
        default_rate: the dropout rate if none is given.
        checked: whether D must be divisible by H.
        told: whether the error's message has both numbers.
        refusal: the error that is raised.
        shared_bias: whether the layers heed the given bias.
        always_bias: the layers that always have one.
        sizes: (D, H) -> the sizes of w_q, w_k and w_v; (D, D) when None.
        missing: layers that __init__ does not make.
        tied: layers that are w_q itself.
        transposed: layers whose matrix is used the other way round.
        in_lists: whether w_q, w_k and w_v are lists of small layers.
        output_masked: whether the output, too, is made with weights that the mask acted on.
        more: whether the module has a parameter beside the layers.

    """

    split: Any = staticmethod(reference_split)
    merge: Any = staticmethod(reference_merge)
    scale: Any = staticmethod(lambda d_model, d_head: d_head**-0.5)
    product: Any = staticmethod(q_k_transposed)
    masking: Masking = "before"
    fill = -torch.inf
    axis = -1
    softmax: Softmax = "once"
    placed = "shared"
    keeps_mask = False
    clears_empty = False
    projected = "qkvo"
    through = "qkv"
    shared_bias = True
    always_bias = ""
    swapped = ""
    keys = "key"
    values = "value"
    as_long = False
    out = "end"
    added = False
    one_head = ""
    made_one = "first"
    own_rate: float | None = None
    default_rate = 0.0
    dropped = "weights"
    returned = "weights"
    results = "both"
    checked = True
    told = True
    refusal: type[Exception] = ValueError
    sizes: Any = None
    missing = ""
    tied = ""
    transposed = ""
    in_lists = False
    output_masked = True
    more = False

    def __init__(
        self, d_model: int, n_heads: int, dropout: float | None = None, bias: bool = True
    ) -> None:
        super().__init__()
        if self.checked and d_model % n_heads:
            numbers = f": {d_model} features, {n_heads} heads" if self.told else ""
            raise self.refusal(f"the features cannot be shared out among the heads{numbers}")
        self.n_heads = n_heads
        asked = self.default_rate if dropout is None else dropout
        self.p = asked if self.own_rate is None else self.own_rate
        self.kept_mask: Tensor | None = None
        for name in "qkvo":
            if name not in self.missing:
                given = name in self.always_bias or (bias and self.shared_bias)
                setattr(self, f"w_{name}", self._made(name, d_model, given))
        if self.more:
            self.temperature = nn.Parameter(torch.ones(()))

    def _made(self, name: str, d_model: int, bias: bool) -> Any:
        if name in self.tied:
            return self.w_q
        if self.in_lists and name != "o":
            small = d_model // self.n_heads
            return [nn.Linear(d_model, small, bias=bias) for _ in range(self.n_heads)]
        own = type(self).sizes
        n_in, n_out = own(d_model, self.n_heads) if own and name != "o" else (d_model, d_model)
        return nn.Linear(n_in, n_out, bias=bias)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
        """Map (B, T, D) and twice (B, S, D) to output (B, T, D) and weights (B, H, T, S)."""
        given = {"query": query, "key": key, "value": value}
        q = self._heads("q", query)
        length = query.shape[1] if self.as_long else None
        k, v = (
            self._heads(name, given[source], length)
            for name, source in (("k", self.keys), ("v", self.values))
        )
        q, k, v = self._swap(q, k, v)
        mask = self._mask_used(mask)
        weights = self._attend(self._drop(q, "queries"), k, mask)
        mixing = weights if self.output_masked else self._attend(q, k, None)
        if self.dropped == "apart":
            mixing = self._weigh(self._drop(self._scores(q, k), "apart"), mask)
        used = self._drop(mixing, *_ON_WEIGHTS)
        joined = self._drop(self.merge(used @ self._drop(v, "values")), "context", "inside")
        ended = self._layer("o", joined) if self.out == "end" else joined
        output = self._drop(ended, "output", "twice") + (query if self.added else 0.0)
        if self.clears_empty and mask is not None:
            output = output * mask.any(-1, keepdim=True)
        returned = {"weights": weights, "dropped": used, "mean": weights.mean(1)}
        returned["turned"] = weights.transpose(1, 2)
        scores = self._scores(q, k) if self.results == "scores" else weights
        return RETURNED[self.results](output, returned[self.returned], scores)

    def _mask_used(self, mask: Tensor | None) -> Tensor | None:
        if self.keeps_mask and mask is None:
            return self.kept_mask
        self.kept_mask = mask
        return mask

    def _swap(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return {"qk": (k, q, v), "kv": (q, v, k)}.get(self.swapped, (q, k, v))

    def _scores(self, q: Tensor, k: Tensor) -> Tensor:
        factor = type(self).scale(q.shape[1] * q.shape[-1], q.shape[-1])
        return self._drop(type(self).product(q, k) * factor, "scores")

    def _attend(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        return self._weigh(self._scores(q, k), mask)

    def _weigh(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        allowed = self._placed(scores, mask)
        return masked_softmax(scores, allowed, self.masking, self.fill, self.axis, self.softmax)

    def _placed(self, scores: Tensor, mask: Tensor | None) -> Tensor | None:
        if mask is None or self.placed == "none":
            return mask
        if self.placed in {"shared", "two"}:
            return mask.unsqueeze(1) if self.placed == "shared" else mask[:, None, None]
        if self.placed == "behind":
            return mask.unsqueeze(2)
        size, heads, queries, keys = scores.shape
        if self.placed == "stretched":
            return mask.expand(scores.shape)
        if self.placed == "viewed":
            return mask.reshape(size, 1, queries, keys)
        copies = mask.expand(size, queries, keys).repeat(heads, 1, 1)
        return copies.view(size, heads, queries, keys)

    def _layer(self, name: str, x: Tensor) -> Tensor:
        if name not in self.projected:
            return x
        layer = name if name == "o" else self.through["qkv".index(name)]
        own = getattr(self, f"w_{layer}")
        projected: Tensor = (
            nn.functional.linear(x, own.weight.T, own.bias) if layer in self.transposed else own(x)
        )
        return self._layer("o", projected) if name == "v" and self.out == "values" else projected

    def _heads(self, name: str, x: Tensor, length: int | None = None) -> Tensor:
        projected = self._layer(name, x)
        if length is not None:
            small = projected.shape[-1] // self.n_heads
            return projected.view(len(x), length, self.n_heads, small).transpose(1, 2)
        heads: Tensor = self.split(projected, self.n_heads)
        if name in self.one_head:
            if self.made_one == "pairs":
                return heads[:, torch.arange(self.n_heads) // 2 * 2]
            one = heads[:, :1] if self.made_one == "first" else heads.mean(1, keepdim=True)
            return one.expand_as(heads)
        return heads

    def _drop(self, x: Tensor, *places: str) -> Tensor:
        acts = self.dropped == "always" or self.training != (self.dropped == "calm")
        if self.dropped not in places or not acts:
            return x
        dropped = nn.functional.dropout(x, 1 - self.p if self.dropped == "kept" else self.p)
        return dropped * (1 - self.p) if self.dropped == "unscaled" else dropped


@by_choices
def heads_variant(**choices: Any) -> type[HeadsVariant]:
    """Return a class like MultiHeadAttention, with the given choices."""
    return type("MultiHeadAttention", (HeadsVariant,), choices)


class SplitBeforeProjection(HeadsVariant):
    """Attention that cuts the inputs first, so all heads use one corner of the projections."""

    def _heads(self, name: str, x: Tensor, length: int | None = None) -> Tensor:
        layer: nn.Linear = getattr(self, f"w_{name}")
        small = x.shape[-1] // self.n_heads
        bias = None if layer.bias is None else layer.bias[:small]
        cut = reference_split(x, self.n_heads)
        return nn.functional.linear(cut, layer.weight[:small, :small], bias)


class SliceForEachHead(HeadsVariant):
    """Attention whose heads see their slice alone: each uses a diagonal block of the matrices."""

    def _heads(self, name: str, x: Tensor, length: int | None = None) -> Tensor:
        layer: nn.Linear = getattr(self, f"w_{name}")
        blocks = reference_split(layer.weight.unsqueeze(0), self.n_heads)[0]
        small = x.shape[-1] // self.n_heads
        own = torch.stack([block[h * small :][:small] for h, block in enumerate(blocks)])
        projected = reference_split(x, self.n_heads) @ own.mT
        return projected if layer.bias is None else projected + layer.bias.view(-1, 1, small)


class WithResidualAndNorm(HeadsVariant):
    """Attention with the connection around it that belongs to a layer: query added, sum normalised.

    Some known programs keep all of this in one module.
    """

    def __init__(
        self, d_model: int, n_heads: int, dropout: float | None = None, bias: bool = True
    ) -> None:
        super().__init__(d_model, n_heads, dropout, bias)
        self.layer_norm = nn.LayerNorm(d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
        """Attend, add the query, and normalise the sum."""
        output, weights = super().forward(query, key, value, mask)
        return self.layer_norm(output + query), weights


class MaskPassedOn(HeadsVariant):
    """Attention that hands the mask to lesson 02's attention as it came, with no axis for heads."""

    def _attend(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        return reference_attention(q, k, k, mask)[1]


class MaskAlwaysThere(HeadsVariant):
    """Attention that gives the mask an axis for heads without asking whether there is one."""

    def _attend(self, q: Tensor, k: Tensor, mask: Any) -> Tensor:
        shared: Tensor = mask.unsqueeze(1)
        return reference_attention(q, k, k, shared)[1]


class MaskOfNumbers(HeadsVariant):
    """Attention that turns the mask into numbers where only a boolean mask works.

    Attributes:
        meets: what gets the numbers: lesson 02 ("attention"), ~ ("not") or masked_fill ("fill").

    """

    meets = "attention"

    def _attend(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None or self.meets == "attention":
            shared = None if mask is None else mask.float().unsqueeze(1)
            return reference_attention(q, k, k, shared)[1]
        blocked = ~mask.float() if self.meets == "not" else 1 - mask.float()
        scores: Tensor = q @ k.mT * q.shape[-1] ** -0.5
        return scores.masked_fill(blocked.unsqueeze(1), -torch.inf).softmax(-1)


class OneSoftmaxForAll(HeadsVariant):
    """One attention over all features.

    Attributes:
        repeats: whether its weights are repeated for every head, or have one axis for all.

    """

    repeats = True

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
        """Attend once, and give the weights an axis for heads."""
        q, k, v = (self._layer(*pair) for pair in zip("qkv", (query, key, value), strict=True))
        output, weights = reference_attention(q, k, v, mask)
        copies = weights.unsqueeze(1).expand(-1, self.n_heads if self.repeats else 1, -1, -1)
        return self._layer("o", output), copies
