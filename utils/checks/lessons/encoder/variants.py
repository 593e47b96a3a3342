"""The encoder and its layer with one thing done wrong, from which known mistakes are made."""

import copy
import inspect
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.authoring.dropping import ones_along
from utils.reference import modules

# Bound at import: other exercises make it absent.
_torch_norm = F.layer_norm


class LayerVariant(modules.EncoderLayer):
    """EncoderLayer with choices.

    Attributes:
        orders: the order used when post-norm, and when pre-norm, is asked for: "post", "pre" or
            "inside" (x + norm(f(x))).
        ordered: sub-layers that these orders are about; the others are post-norm.
        residuals: "a" after attention, "f" after feed-forward.
        residual_from: the sub-layer's "input", its "normed" input, or the layer's "first" input.
        astray: sub-layers whose residual comes from there; the others add their input.
        astray_in: the orders, "post" and "pre", in which it does.
        shrunk: what every sum is multiplied by.
        inside: sub-layers that are normalised before the sum in post-norm.
        added_again: sub-layers whose input is added once more at their end, after any norm.
        norms: "two" norms, one for each sub-layer; "one" for both; two that are "swapped"; the
            "first" or the "second" called twice; or made "anew", without what gain and bias have
            learned.
        normed: sub-layers that have a norm at all, in post-norm and in pre-norm.
        mask_as: whether attention gets the mask as "given", "inverted", "none", "unsqueezed", with
            each token's own place "opened", or as it was in the "first" call, or, where none is
            given, as it was "before".
        masked_wrongly: the orders, "post" and "pre", that "mask_as" is about.
        drops: sub-layers whose result is dropped out, in post-norm and in pre-norm.
        dropped: what dropout acts on in post-norm and in pre-norm: what a sub-layer "found",
            its "sum" with the input, or the "result" of the norm.
        hands_on: sub-layers that get the dropout rate.
        plain_keys: whether keys and values are left unnormalised in pre-norm.
        feeds: what feed-forward reads: its "own" input, the layer's "first" input, or in pre-norm
            the layer's input after feed-forward's norm ("first normed").
        own_rate: a dropout rate for what sub-layers add; replaces the given one.
        drops_again: sub-layers of which what they add is dropped out twice.
        at_once: the axes along which all entries of what is added are dropped together.
        share: the given rate -> the share of what sub-layers add that is dropped.
        scales_in_eval: whether, in eval mode, what sub-layers add shrinks by the share that train
            mode drops.
        drops_read: whether what sub-layers read is dropped out, too.
        turns: the order of the sub-layers.
        last_norm: whether a norm follows the last sum in pre-norm.
        sums_normed: sub-layers whose sum is normalised in pre-norm, too.
        pair: whether attention's pair is "unpacked", goes to "dropout", or into the "sum", or its
            "weights" are taken.
        always_drops: whether what sub-layers add is dropped out in eval mode too.
        other_dropout, other_order: what stands for dropout and norm_first if they are not given.

    """

    orders = ("post", "pre")
    ordered = "af"
    residuals = "af"
    residual_from = "input"
    astray = "af"
    astray_in: tuple[str, ...] = ("post", "pre", "inside")
    shrunk = 1.0
    inside = ""
    added_again = ""
    norms = "two"
    normed = ("af", "af")
    mask_as = "given"
    masked_wrongly: tuple[str, ...] = ("post", "pre")
    drops = ("af", "af")
    dropped = ("found", "found")
    hands_on = "af"
    plain_keys = False
    feeds = "own"
    drops_read = False
    drops_again = ""
    at_once: tuple[int, ...] = ()
    scales_in_eval = False
    share: Callable[[float], float] = staticmethod(lambda rate: rate)
    own_rate: float | None = None
    turns = "af"
    last_norm = False
    sums_normed = ""
    pair = "unpacked"
    always_drops = False
    other_dropout: float | None = None
    other_order: bool | None = None

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float | None = None,
        norm_first: bool | None = None,
    ) -> None:
        usual = self.other_dropout, self.other_order
        rate = next(p for p in (dropout, usual[0], 0.1) if p is not None)
        order = next(o for o in (norm_first, usual[1], False) if o is not None)
        super().__init__(d_model, n_heads, d_ff, rate, order)
        self.first_mask: Any = ()
        self.dropout.p = type(self).share(rate) if self.own_rate is None else self.own_rate
        if self.norms == "one":
            self.norm_2 = self.norm_1
        if "a" not in self.hands_on:
            self.self_attention.dropout = 0.0
        if "f" not in self.hands_on:
            self.feed_forward.dropout.p = 0.0

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (B, T, D) to (B, T, D)."""
        mask = self._mask(mask)
        norms, first = self._norms(), x
        fed: dict[str, Tensor] = {"first": first}
        if self.feeds == "first normed" and self._order() == "pre":
            fed["first normed"] = _apply(norms["f"], first)
        runs: dict[str, Callable[[Tensor, Tensor], Any]] = {
            "a": lambda n, own: self._look(n, own, mask),
            "f": lambda n, _: self.feed_forward(fed.get(self.feeds, n)),
        }
        for which in self.turns:
            x = self._sub_layer(which, norms[which], runs[which], x, first)
        return _apply(self.norm_2, x) if self.last_norm and self._order() == "pre" else x

    def _mask(self, mask: Tensor | None) -> Tensor | None:
        if self.mask_as == "before":
            self.first_mask = self.first_mask if mask is None else (mask,)
            return cast("Tensor | None", self.first_mask[0]) if self.first_mask else None
        if self.mask_as == "first":
            self.first_mask = self.first_mask or (mask,)
            return cast("Tensor | None", self.first_mask[0])
        if mask is None or self.mask_as == "given" or self._order() not in self.masked_wrongly:
            return mask
        own = torch.eye(mask.shape[-1], dtype=torch.bool)
        changed = {"inverted": ~mask, "unsqueezed": mask.unsqueeze(1), "opened": mask | own}
        return changed.get(self.mask_as)

    def _norms(self) -> dict[str, Callable[[Tensor], Tensor]]:
        norms: list[Callable[[Tensor], Tensor]] = [self.norm_1, self.norm_2]
        norms = norms[::-1] if self.norms == "swapped" else norms
        norms = {"first": norms[:1] * 2, "second": norms[1:] * 2}.get(self.norms, norms)
        norms = [_fresh_norm] * 2 if self.norms == "anew" else norms
        kept = self.normed[self.norm_first]
        pairs = zip("af", norms, strict=True)
        return {which: norm if which in kept else nn.Identity() for which, norm in pairs}

    def _look(self, normed: Tensor, x: Tensor, mask: Tensor | None) -> Any:
        keys = x if self.plain_keys else normed
        found = self.self_attention(normed, keys, keys, mask)
        return {"unpacked": found[0], "weights": found[1]}.get(self.pair, found)

    def _sub_layer(
        self,
        which: str,
        norm: Callable[[Tensor], Tensor],
        run: Callable[[Tensor, Tensor], Any],
        x: Tensor,
        first: Tensor,
    ) -> Tensor:
        order = self._order() if which in self.ordered else "post"
        dropped = self.dropped[order == "pre"] if which in self.drops[order == "pre"] else "nothing"
        read = norm(x) if order == "pre" else x
        found = run(self.dropout(read) if self.drops_read else read, x)
        found = self._dropped(found, which) if dropped == "found" and self.pair != "sum" else found
        is_astray = which in self.astray and order in self.astray_in
        source = self.residual_from if is_astray else "input"
        base = {"input": x, "normed": read, "first": first}[source]
        keeps = which in self.residuals
        if order == "inside" or (order == "post" and which in self.inside):
            return base + norm(found) if keeps else norm(found)
        total: Tensor = (base + found if keeps else found) * self.shrunk
        total = self.dropout(total) if dropped == "sum" else total
        total = total if order == "pre" and which not in self.sums_normed else norm(total)
        total = total + x if which in self.added_again else total
        return self.dropout(total) if dropped == "result" else total

    def _dropped(self, x: Any, which: str) -> Any:
        if self.scales_in_eval and not self.training:
            return x * (1 - self.dropout.p)
        if self.at_once:
            return x * self.dropout(ones_along(x, self.at_once))
        x = self.dropout(x) if which in self.drops_again else x
        return F.dropout(x, self.dropout.p) if self.always_drops else self.dropout(x)

    def _order(self) -> str:
        return self.orders[self.norm_first]


def _apply(norm: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    normed: Tensor = norm(x)
    return normed


def _fresh_norm(x: Tensor) -> Tensor:
    return _torch_norm(x, x.shape[-1:])


PASSED = ("norm_first", "positions", "layers", "max_len", "padding_idx")


_ARGUMENTS = inspect.signature(modules.TransformerEncoder)


class EncoderVariant(modules.TransformerEncoder):
    """TransformerEncoder with choices.

    Attributes:
        stack: "own" layers, one layer "repeated", a plain "list", one layer "too few" or "too
            many".
        loop: each layer reads the output of the one before ("chain") or the "input"; they go
            "backwards"; what they give is "added" once more, or "dropped"; or positions, or the
            embedded "words", are added to what each reads ("placed").
        averaged: whether encode gives the mean of what the layers give.
        run: which layers are.
        masked: whether "all" layers get the mask, the "first" alone, or "none".
        final: "asked" (a final norm in pre-norm alone), "never", "always", in "post" alone,
            made but "unused", called in "forward" in place of encode, or after "each" layer.
        pooled: whether forward gives the "mean" over positions, or the "first" alone.
        default_mask: "padding", "none", "inverted", "zero" (padding_idx is ignored), "queries"
            (padding is blocked as a query, not as a key), "zeroed" (none, but what is embedded of
            padding is set to 0), "flat" (B, T), "deep" (B, 1, 1, T),
            "float", "long", "causal" (joined with that), that of the "first" sentence for all, or
            "greater" (words have ids above the padding's).
        given_mask: whether a given mask is "kept", "ignored" or "joined" with the padding mask.
        passes: options handed on: dropout to "positions" and to "layers", padding_idx to the
            embedding, norm_first and max_len.
        scaled: how often embed multiplies by sqrt(D).
        words_twice: whether embed adds the words to what the positions were added to.
        drops_again: whether embed drops out once more.
        drops_words: whether embed drops out the words before their positions are added, too.
        without_positions: whether embed adds none.
        exchanged: whether n_heads and d_ff change places on their way to the layers.
        remembers: whether the padding mask of the first call is kept.
        masked_before: whether encode uses the last mask that it got where it gets none.
        drops_state: whether what layers give is dropped out once more, "between" them or "last".
        cuts: whether what is past max_len is left out.
        real: how padding is found without a mask: by each "id", or by their "number" as if it
            stood at the end, or from the "first" on.
        other_dropout, other_order: what stands for dropout and norm_first if they are not given.

    """

    stack = "own"
    loop = "chain"
    final = "asked"
    default_mask = "padding"
    given_mask = "kept"
    passes: tuple[str, ...] = PASSED
    masked = "all"
    pooled = ""
    scaled = 1
    words_twice = False
    drops_words = False
    drops_again = False
    without_positions = False
    exchanged = False
    remembers = False
    masked_before = False
    averaged = False
    run = slice(None)
    drops_state = ""
    cuts = False
    real = "id"
    other_dropout: float | None = None
    other_order: bool | None = None

    def __init__(self, *arguments: Any, **named: Any) -> None:
        given = _ARGUMENTS.bind(*arguments, **named)
        usual = {"dropout": self.other_dropout, "norm_first": self.other_order}
        given.arguments |= {
            name: value
            for name, value in usual.items()
            if value is not None and name not in given.arguments
        }
        given.apply_defaults()
        chosen = given.arguments
        self._checked(chosen)
        if "max_len" not in self.passes:
            chosen["max_len"] = _ARGUMENTS.parameters["max_len"].default
        super().__init__(**chosen)
        d_model, norm_first = chosen["d_model"], chosen["norm_first"]
        if "padding_idx" not in self.passes:
            self.embedding = modules.TokenEmbedding(chosen["vocab_size"], d_model)
        if "positions" not in self.passes:
            self.positions = modules.PositionalEncoding(d_model, chosen["max_len"])
        if "layers" not in self.passes:
            sizes = d_model, chosen["n_heads"], chosen["d_ff"]
            kinds = (modules.EncoderLayer(*sizes, norm_first=norm_first) for _ in self.layers)
            self.layers = nn.ModuleList(kinds)
        if "norm_first" not in self.passes:
            for layer in self.layers:
                cast("Any", layer).norm_first = False
        has = {"never": False, "always": True, "post": not norm_first}.get(self.final, norm_first)
        self.final_norm = modules.LayerNorm(d_model) if has else nn.Identity()
        self.kept_mask: Any = ()
        self.last_mask: Any = None
        self._stack_wrongly()

    def _checked(self, chosen: dict[str, Any]) -> None:
        if self.exchanged:
            modules.EncoderLayer(chosen["d_model"], chosen["d_ff"], chosen["n_heads"])

    def _stack_wrongly(self) -> None:
        layers = list(self.layers)
        if self.stack == "repeated":
            self.layers = nn.ModuleList(layers[:1] * len(layers))
        if self.stack == "list":
            del self.layers
            self.layers = cast("Any", layers)
        if self.stack == "too few":
            self.layers = nn.ModuleList(layers[1:])
        if self.stack == "too many":
            self.layers = nn.ModuleList([*layers, copy.deepcopy(layers[0])])

    def embed(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to (B, T, D)."""
        most = len(self.positions.pe) if self.cuts else None
        x: Tensor = self.embedding(ids[:, :most])
        x = x * x.shape[-1] ** ((self.scaled - 1) / 2)
        if self.drops_words:
            x = self._dropped_out(x)
        placed: Tensor = x if self.without_positions else self.positions(x)
        if self.drops_again:
            placed = self._dropped_out(placed)
        return x + placed if self.words_twice else placed

    def _dropped_out(self, x: Tensor) -> Tensor:
        return F.dropout(x, cast("Any", self.positions).dropout.p, self.training)

    def encode(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (B, T, D) to (B, T, D)."""
        if self.masked_before:
            self.last_mask = mask = self.last_mask if mask is None else mask
        state, given = x, []
        layers = list(self.layers)[self.run]
        for n, layer in enumerate(layers[::-1] if self.loop == "backwards" else layers):
            hidden = self.masked == "none" or (self.masked == "first" and n > 0)
            read = x if self.loop == "input" else state
            read = self.positions(read) if self.loop == "placed" and n else read
            read = read + x if self.loop == "words" and n else read
            found = layer(read, None if hidden else mask)
            given.append(found)
            found = self.final_norm(found) if self.final == "each" else found
            state = {"dropped": state, "added": state + found}.get(self.loop, found)
            if self.drops_state == "between" and n + 1 < len(layers):
                state = self._dropped_out(state)
        state = torch.stack(given).mean(0) if self.averaged and given else state
        used = self.final not in {"unused", "forward", "each"}
        state = _apply(self.final_norm, state) if used else state
        return self._dropped_out(state) if self.drops_state == "last" else state

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map ids (B, T) to (B, T, D)."""
        zeroed = mask is None and self.default_mask == "zeroed"
        if mask is None or self.given_mask == "ignored":
            mask = self._padding(ids)
        elif self.given_mask == "joined":
            mask = mask & (ids != self.padding_idx).unsqueeze(1)
        x = self.embed(ids)
        encoded = self.encode(x * self._real(ids).unsqueeze(-1) if zeroed else x, mask)
        encoded = _apply(self.final_norm, encoded) if self.final == "forward" else encoded
        return {"mean": encoded.mean(1), "first": encoded[:, 0]}.get(self.pooled, encoded)

    def _real(self, ids: Tensor) -> Tensor:
        real = ids != (0 if self.default_mask == "zero" else self.padding_idx)
        real = ids > self.padding_idx if self.default_mask == "greater" else real
        places = torch.arange(ids.shape[1])
        if self.real == "number":
            return places < real.sum(1, keepdim=True)
        return (~real).cumsum(1) == 0 if self.real == "first" else real

    def _padding(self, ids: Tensor) -> Tensor | None:
        real = self._real(ids).unsqueeze(1)
        others = {"none": None, "zeroed": None, "inverted": ~real, "queries": real.mT}
        others |= {"flat": real.squeeze(1), "deep": real.unsqueeze(1)}
        others |= {"float": real.float(), "long": real.long()}
        others |= {"first": real[:1], "causal": real & real.new_ones(2 * ids.shape[1:]).tril()}
        found = others.get(self.default_mask, real)
        if self.remembers and found is not None:
            if not self.kept_mask or self.kept_mask[0].shape[-1] != ids.shape[-1]:
                self.kept_mask = (found,)
            return cast("Tensor", self.kept_mask[0])
        return found
