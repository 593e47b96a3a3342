"""Multi-head attention with one part done wrong: what the bank of known mistakes is made of."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.attention.reference import reference_attention
from utils.checks.attention.variants import Masking, masked_softmax
from utils.checks.multi_head_attention.reference import reference_merge, reference_split


def view_split(x: Tensor, n_heads: int) -> Tensor:
    """Right in shape only: the features of a sentence cut as if they were one long row."""
    return x.reshape(len(x), n_heads, x.shape[1], -1)


def view_merge(x: Tensor) -> Tensor:
    """Right in shape only: the heads read out one after another as one long row."""
    return x.reshape(len(x), x.shape[2], -1)


def interleaved_split(x: Tensor, n_heads: int) -> Tensor:
    """Give head h every H-th feature from h on."""
    return torch.stack([x[..., h::n_heads] for h in range(n_heads)], 1)


def interleaved_merge(x: Tensor) -> Tensor:
    """Feature 0 of all heads, then feature 1 of all heads, and so on."""
    return torch.stack(x.unbind(1), -1).flatten(-2)


class HeadsVariant(nn.Module):
    """The class of lesson 03 with choices; derived classes set them.

    Attributes:
        split, merge: how heads are cut and joined.
        scale: from (D, Dh) to the factor on the scores.
        masking, axis: how the mask acts, and what softmax runs over.
        projected: which of w_q, w_k, w_v, w_o are used.
        swapped: what changes places after projection: queries and keys ("qk"), keys and values
            ("kv"), or nothing.
        keys, values: which of the arguments ("query", "key", "value") they come from.
        heads_axis: whether the mask gets an axis for heads.
        dropped: what dropout acts on: "weights", "scores", "values", "context", "output", "twice"
            (weights and output), "nothing", "always" (the weights, in eval mode too) or "unscaled"
            (what is kept is not scaled up).
        returned: "weights", "dropped", "mean" over heads, "scores" or "nothing".
        own_rate: a share to drop out in place of the given one.
        checked: whether D must be divisible by H.

    """

    split: Any = staticmethod(reference_split)
    merge: Any = staticmethod(reference_merge)
    scale: Any = staticmethod(lambda d_model, d_head: d_head**-0.5)
    masking: Masking = "before"
    fill = -torch.inf
    axis = -1
    heads_axis = True
    projected = "qkvo"
    shared_bias = True
    swapped = ""
    keys = "key"
    values = "value"
    own_rate: float | None = None
    dropped = "weights"
    returned = "weights"
    checked = True

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if self.checked and d_model % n_heads:
            raise ValueError(f"{d_model} features cannot be cut into {n_heads} heads")
        self.n_heads = n_heads
        self.p = dropout if self.own_rate is None else self.own_rate
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias and self.shared_bias))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
        """(B, T, D), twice (B, S, D) -> output (B, T, D) and weights (B, H, T, S)."""
        given = {"query": query, "key": key, "value": value}
        k, v = self._heads("k", given[self.keys]), self._heads("v", given[self.values])
        q, k, v = self._swap(self._heads("q", query), k, v)
        weights = self._weights(q, k, mask)
        used = self._drop(weights, "weights", "twice", "always", "unscaled")
        joined = self._drop(self.merge(used @ self._drop(v, "values")), "context")
        output = self._drop(self._layer("o", joined), "output", "twice")
        returned = {"weights": weights, "dropped": used, "mean": weights.mean(1)}
        return output if self.returned == "nothing" else (output, returned[self.returned])

    def _swap(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return {"qk": (k, q, v), "kv": (q, v, k)}.get(self.swapped, (q, k, v))

    def _weights(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        factor = self.scale(q.shape[1] * q.shape[-1], q.shape[-1])
        scores = self._drop(q @ k.transpose(-2, -1) * factor, "scores")
        allowed = mask.unsqueeze(1) if mask is not None and self.heads_axis else mask
        return masked_softmax(scores, allowed, self.masking, self.fill, self.axis)

    def _layer(self, name: str, x: Tensor) -> Tensor:
        projected: Tensor = getattr(self, f"w_{name}")(x) if name in self.projected else x
        return projected

    def _heads(self, name: str, x: Tensor) -> Tensor:
        heads: Tensor = self.split(self._layer(name, x), self.n_heads)
        return heads

    def _drop(self, x: Tensor, *places: str) -> Tensor:
        if self.dropped not in places or not (self.training or self.dropped == "always"):
            return x
        dropped = nn.functional.dropout(x, self.p)
        return dropped * (1 - self.p) if self.dropped == "unscaled" else dropped


def heads_variant(**choices: Any) -> type[HeadsVariant]:
    """A class like MultiHeadAttention, with the given choices."""
    return type("MultiHeadAttention", (HeadsVariant,), choices)


class SplitBeforeProjection(HeadsVariant):
    """Cuts the inputs first; every head then uses the same corner of the projections."""

    def _heads(self, name: str, x: Tensor) -> Tensor:
        layer: nn.Linear = getattr(self, f"w_{name}")
        small = x.shape[-1] // self.n_heads
        bias = None if layer.bias is None else layer.bias[:small]
        cut = reference_split(x, self.n_heads)
        return nn.functional.linear(cut, layer.weight[:small, :small], bias)


class MaskPassedOn(HeadsVariant):
    """Hands the mask to the attention of lesson 02 as it came, without an axis for heads."""

    def _weights(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        return reference_attention(q, k, k, mask)[1]


class MaskAlwaysThere(HeadsVariant):
    """Gives the mask an axis for heads without asking whether there is a mask."""

    def _weights(self, q: Tensor, k: Tensor, mask: Any) -> Tensor:
        shared: Tensor = mask.unsqueeze(1)
        return reference_attention(q, k, k, shared)[1]


class MaskOfNumbers(HeadsVariant):
    """Makes numbers of the mask, and lets them meet what only takes a boolean one.

    Attributes:
        meets: the attention of lesson 02 ("attention"), ~ ("not") or masked_fill ("fill").

    """

    meets = "attention"

    def _weights(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None or self.meets == "attention":
            shared = None if mask is None else mask.float().unsqueeze(1)
            return reference_attention(q, k, k, shared)[1]
        blocked = ~mask.float() if self.meets == "not" else 1 - mask.float()
        scores: Tensor = q @ k.mT * q.shape[-1] ** -0.5
        return scores.masked_fill(blocked.unsqueeze(1), -torch.inf).softmax(-1)


class OneSoftmaxForAll(HeadsVariant):
    """One attention over all features, its weights repeated for every head."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
        """Attend once, and copy the weights H times."""
        q, k, v = (self._layer(*pair) for pair in zip("qkv", (query, key, value), strict=True))
        output, weights = reference_attention(q, k, v, mask)
        copies = weights.unsqueeze(1).expand(-1, self.n_heads, -1, -1)
        return self._layer("o", output), copies
