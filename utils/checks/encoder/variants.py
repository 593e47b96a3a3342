"""Parts of the encoder with one thing done wrong: what the banks of known mistakes are made of."""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils import blocks

# Taken now: other exercises make it absent.
_torch_norm = F.layer_norm


class NormVariant(nn.Module):
    """LayerNorm, with choices that derived classes set.

    Attributes:
        axes: what mean and variance are taken over.
        correction: 1 for the unbiased variance.
        spread: (variance, eps) -> what x is divided by.
        centred: whether the mean is taken away.
        gain, bias_used: whether they are applied.
        own_eps: an epsilon in place of the given one.
        default_eps: the epsilon where none is given.
        keepdim: whether the mean keeps the axis that it was taken over.
        by_difference: variance as mean of squares minus square of mean.
        registered: whether gain and bias are parameters.
        names: what gain and bias are called.

    """

    axes: tuple[int, ...] = (-1,)
    correction = 0
    spread: Callable[[Tensor, float], Tensor] = staticmethod(lambda v, eps: (v + eps).sqrt())
    centred = True
    gain = True
    bias_used = True
    own_eps: float | None = None
    default_eps = 1e-5
    keepdim = True
    by_difference = False
    registered = True
    names = ("weight", "bias")
    gain_at_first = 1.0

    def __init__(self, d_model: int, eps: float | None = None) -> None:
        super().__init__()
        given = self.default_eps if eps is None else eps
        self.eps = given if self.own_eps is None else self.own_eps
        tensors = torch.full((d_model,), self.gain_at_first), torch.zeros(d_model)
        for name, tensor in zip(self.names, tensors, strict=True):
            setattr(self, name, nn.Parameter(tensor) if self.registered else tensor)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        axes = tuple(axis for axis in self.axes if -x.dim() <= axis < x.dim())
        mean = x.mean(axes, keepdim=self.keepdim)
        variance = x.var(axes, correction=self.correction, keepdim=True)
        if self.by_difference:
            variance = (x * x).mean(axes, keepdim=True) - mean * mean
        normal = (x - mean if self.centred else x) / type(self).spread(variance, self.eps)
        weight, bias = (getattr(self, name) for name in self.names)
        scaled = normal * weight if self.gain else normal
        return scaled + bias if self.bias_used else scaled


class FeedVariant(nn.Module):
    """FeedForward, with choices: the activation, where it and dropout stand, a rate of its own."""

    activation: Callable[[Tensor], Tensor] = staticmethod(torch.relu)
    relu_at = "middle"
    dropout_at = "middle"
    always_drops = False
    own_rate: float | None = None
    residual = False
    sizes_swapped = False
    bias = True

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if self.sizes_swapped:
            d_model, d_ff = d_ff, d_model
        self.linear_1 = nn.Linear(d_model, d_ff, bias=self.bias)
        self.linear_2 = nn.Linear(d_ff, d_model, bias=self.bias)
        self.p = dropout if self.own_rate is None else self.own_rate

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        hidden = self._step(self.linear_1(x), "middle")
        output = self._step(self.linear_2(hidden), "end")
        return x + output if self.residual else output

    def _step(self, x: Tensor, place: str) -> Tensor:
        x = type(self).activation(x) if self.relu_at in (place, "both") else x
        drops = self.always_drops or self.training
        return F.dropout(x, self.p, drops) if self.dropout_at == place else x


class LayerVariant(blocks.EncoderLayer):
    """EncoderLayer, with choices.

    Attributes:
        orders: what is done where post-norm is asked for and where pre-norm is: "post", "pre", or
            "inside" (x + norm(f(x))).
        residuals: "a" after attention, "f" after feed-forward.
        residual_from: "input" of the sub-layer, its "normed" input, or the layer's "first" input.
        astray: sub-layers whose residual comes from there; the others' comes from their input.
        norms: whether each sub-layer has its own, "one" object, or they are "swapped".
        normed: sub-layers that have a norm at all, in post-norm and in pre-norm.
        mask_as: whether attention gets the mask as "given", "inverted", or "none".
        drops: sub-layers whose result is dropped out, in post-norm and in pre-norm.
        dropped: what dropout acts on in post-norm and in pre-norm: what a sub-layer "found", or
            the "sum" with its input.
        hands_on: sub-layers that get the dropout rate.
        plain_keys: in pre-norm, keys and values are not normalised.
        feeds: feed-forward reads its "own" input, the layer's "first" one, or in pre-norm the
            layer's input after its norm ("first normed").
        own_rate: a rate for what the sub-layers add, in place of the given one.

    """

    orders = ("post", "pre")
    residuals = "af"
    residual_from = "input"
    astray = "af"
    norms = "two"
    normed = ("af", "af")
    mask_as = "given"
    drops = ("af", "af")
    dropped = ("found", "found")
    hands_on = "af"
    plain_keys = False
    feeds = "own"
    own_rate: float | None = None

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm_first: bool = False,
    ) -> None:
        super().__init__(d_model, n_heads, d_ff, dropout, norm_first)
        if self.own_rate is not None:
            self.dropout.p = self.own_rate
        if self.norms == "one":
            self.norm_2 = self.norm_1
        if "a" not in self.hands_on:
            self.self_attention.dropout = 0.0
        if "f" not in self.hands_on:
            self.feed_forward.dropout.p = 0.0

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        if mask is not None and self.mask_as != "given":
            mask = ~mask if self.mask_as == "inverted" else None
        norms = self._norms()
        first = x
        x = self._sub_layer("a", norms[0], lambda n, own: self._look(n, own, mask), x, first)
        fed = {"first": first}
        if self.feeds == "first normed" and self._order() == "pre":
            fed["first normed"] = _apply(norms[1], first)
        return self._sub_layer(
            "f", norms[1], lambda n, _: self.feed_forward(fed.get(self.feeds, n)), x, first
        )

    def _norms(self) -> list[nn.Module]:
        norms = [self.norm_1, self.norm_2]
        norms = norms[::-1] if self.norms == "swapped" else norms
        kept = self.normed[self.norm_first]
        pairs = zip("af", norms, strict=True)
        return [norm if which in kept else nn.Identity() for which, norm in pairs]

    def _look(self, normed: Tensor, x: Tensor, mask: Tensor | None) -> Tensor:
        keys = x if self.plain_keys else normed
        output: Tensor = self.self_attention(normed, keys, keys, mask)[0]
        return output

    def _sub_layer(
        self,
        which: str,
        norm: nn.Module,
        run: Callable[[Tensor, Tensor], Tensor],
        x: Tensor,
        first: Tensor,
    ) -> Tensor:
        order = self._order()
        dropped = self.dropped[order == "pre"] if which in self.drops[order == "pre"] else "nothing"
        read = norm(x) if order == "pre" else x
        found = run(read, x)
        found = self.dropout(found) if dropped == "found" else found
        source = self.residual_from if which in self.astray else "input"
        base = {"input": x, "normed": read, "first": first}[source]
        keeps = which in self.residuals
        if order == "inside":
            return base + _apply(norm, found) if keeps else _apply(norm, found)
        total: Tensor = base + found if keeps else found
        total = self.dropout(total) if dropped == "sum" else total
        return total if order == "pre" else _apply(norm, total)

    def _order(self) -> str:
        return self.orders[self.norm_first]


def _apply(norm: nn.Module, x: Tensor) -> Tensor:
    normed: Tensor = norm(x)
    return normed


PASSED = ("norm_first", "positions", "layers", "max_len", "padding_idx")


class EncoderVariant(blocks.TransformerEncoder):
    """TransformerEncoder, with choices.

    Attributes:
        stack: "own" layers, one layer "repeated", a plain "list", or one layer "too few".
        loop: each layer gets the last one's output ("chain"), or the "input"; "masks first" gives
            the mask to the first layer alone; "dropped" does nothing with what layers return.
        final: "asked", "never", "always", "unused", or in "forward" in place of encode.
        default_mask: "padding", "none", "inverted", "zero" (padding_idx is ignored), "queries"
            (padding is blocked as a query, not as a key), "flat" (B, T), "float" or "long".
        given_mask: what becomes of one: it is "kept", "ignored" or "joined" with padding's.
        passes: options that are handed on to the parts; dropout to "positions" and "layers",
            padding_idx to the embedding.
        scaled_again, without_positions: what embed does beside.

    """

    stack = "own"
    loop = "chain"
    final = "asked"
    default_mask = "padding"
    given_mask = "kept"
    passes: tuple[str, ...] = PASSED
    scaled_again = False
    without_positions = False

    def __init__(  # noqa: PLR0917 (these are the exercise's arguments)
        self,
        vocab_size: int,
        d_model: int = 512,
        n_heads: int = 8,
        n_layers: int = 6,
        d_ff: int = 2048,
        max_len: int = 5000,
        dropout: float = 0.1,
        norm_first: bool = False,
        padding_idx: int = 0,
    ) -> None:
        length = max_len if "max_len" in self.passes else 5000
        super().__init__(
            vocab_size, d_model, n_heads, n_layers, d_ff, length, dropout, norm_first, padding_idx
        )
        if "padding_idx" not in self.passes:
            self.embedding = blocks.TokenEmbedding(vocab_size, d_model)
        if "positions" not in self.passes:
            self.positions = blocks.PositionalEncoding(d_model, length)
        if "layers" not in self.passes:
            sizes = d_model, n_heads, d_ff
            kinds = (blocks.EncoderLayer(*sizes, norm_first=norm_first) for _ in self.layers)
            self.layers = nn.ModuleList(kinds)
        if "norm_first" not in self.passes:
            for layer in self.layers:
                cast("Any", layer).norm_first = False
        if (norm_first and self.final == "never") or self.final == "always":
            self.final_norm = nn.Identity() if norm_first else blocks.LayerNorm(d_model)
        self._stack_wrongly()

    def _stack_wrongly(self) -> None:
        layers = list(self.layers)
        if self.stack == "repeated":
            self.layers = nn.ModuleList(layers[:1] * len(layers))
        if self.stack == "list":
            del self.layers
            self.layers = cast("Any", layers)
        if self.stack == "too few":
            self.layers = nn.ModuleList(layers[1:])

    def embed(self, ids: Tensor) -> Tensor:
        """Ids (B, T) -> (B, T, D)."""
        x: Tensor = self.embedding(ids)
        x = x * x.shape[-1] ** 0.5 if self.scaled_again else x
        return x if self.without_positions else self.positions(x)

    def encode(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        state = x
        for n, layer in enumerate(self.layers):
            allowed = None if self.loop == "masks first" and n else mask
            found = layer(x if self.loop == "input" else state, allowed)
            state = state if self.loop == "dropped" else found
        normed: Tensor = state if self.final in {"unused", "forward"} else self.final_norm(state)
        return normed

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Ids (B, T) -> (B, T, D)."""
        if mask is None or self.given_mask == "ignored":
            mask = self._padding(ids)
        elif self.given_mask == "joined":
            mask = mask & (ids != self.padding_idx).unsqueeze(1)
        encoded = self.encode(self.embed(ids), mask)
        return _apply(self.final_norm, encoded) if self.final == "forward" else encoded

    def _padding(self, ids: Tensor) -> Tensor | None:
        real = (ids != (0 if self.default_mask == "zero" else self.padding_idx)).unsqueeze(1)
        others = {"none": None, "inverted": ~real, "queries": real.mT, "flat": real.squeeze(1)}
        others |= {"float": real.float(), "long": real.long()}
        return others.get(self.default_mask, real)


def variant(base: type[nn.Module], **choices: Any) -> type[nn.Module]:
    """A class like `base` with the given choices."""
    return type(base.__name__.replace("Variant", ""), (base,), choices)
