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
        swapped: whether queries and keys change places.
        values: which of the arguments ("query", "key", "value") the values come from.
        heads_axis: whether the mask gets an axis for heads.
        dropped: what dropout acts on: "weights", "scores", "context", "output", "twice" (weights
            and output), "nothing", "always" (the weights, in eval mode too) or "unscaled" (what is
            kept is not scaled up).
        returned: "weights", "dropped", "mean" over heads, "scores" or "nothing".
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
    swapped = False
    values = "value"
    dropped = "weights"
    returned = "weights"
    checked = True

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if self.checked and d_model % n_heads:
            raise ValueError(f"{d_model} features cannot be cut into {n_heads} heads")
        self.n_heads, self.p = n_heads, dropout
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias and self.shared_bias))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
        """(B, T, D), twice (B, S, D) -> output (B, T, D) and weights (B, H, T, S)."""
        source = {"query": query, "key": key, "value": value}[self.values]
        q, k, v = self._heads("q", query), self._heads("k", key), self._heads("v", source)
        if self.swapped:
            q, k = k, q
        weights = self._weights(q, k, mask)
        used = self._drop(weights, "weights", "twice", "always", "unscaled")
        joined = self._drop(self.merge(used @ v), "context")
        output = self._drop(self._layer("o", joined), "output", "twice")
        returned = {"weights": weights, "dropped": used, "mean": weights.mean(1)}
        return output if self.returned == "nothing" else (output, returned[self.returned])

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


class OneSoftmaxForAll(HeadsVariant):
    """One attention over all features, its weights repeated for every head."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
        """Attend once, and copy the weights H times."""
        q, k, v = (self._layer(*pair) for pair in zip("qkv", (query, key, value), strict=True))
        output, weights = reference_attention(q, k, v, mask)
        copies = weights.unsqueeze(1).expand(-1, self.n_heads, -1, -1)
        return self._layer("o", output), copies
