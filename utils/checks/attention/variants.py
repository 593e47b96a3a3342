"""Attention with one part done wrong: what the banks of known mistakes are made of."""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from utils.checks.attention.reference import reference_attention

Masking = Literal[
    "before",
    "ignored",
    "inverted",
    "zero",
    "nan",
    "uniform",
    "zeroed",
    "after",
    "added",
    "lowered",
    "lowered too little",
    "lowered too little, then zeroed",
    "infinity added",
    "infinity added, then zeroed",
    "zero times infinity",
    "zero times infinity, then zeroed",
    "renormalised",
    "renormalised safely",
]


def attention_variant(
    *,
    scale: Callable[[Tensor, Tensor], float] | None = None,
    axis: int = -1,
    masking: Masking = "before",
    fill: float = -torch.inf,
    keys_as_values: bool = False,
) -> Callable[..., tuple[Tensor, Tensor]]:
    """Build a scaled dot-product attention with the given choices.

    Args:
        scale: (q, k) -> factor on the scores; 1 / sqrt(Dk) when None.
        axis: what softmax runs over.
        masking: how the mask acts; "nan" and "uniform" differ in rows with nothing allowed.
        fill: the score of a blocked key, where scores are filled.
        keys_as_values: take the output from the keys.
    """

    def attention(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        factor = q.shape[-1] ** -0.5 if scale is None else scale(q, k)
        scores = q @ k.transpose(-2, -1) * factor
        weights = masked_softmax(scores, mask, masking, fill, axis)
        return weights @ (k if keys_as_values else v), weights

    return attention


def masked_softmax(
    scores: Tensor,
    mask: Tensor | None,
    masking: Masking = "before",
    fill: float = -torch.inf,
    axis: int = -1,
) -> Tensor:
    """Softmax under a mask, rightly ("before") or in one of the wrong ways."""
    if mask is None or masking == "ignored":
        return scores.softmax(axis)
    if masking in _NOT_FILLED:
        return _NOT_FILLED[masking](scores, mask, axis)
    allowed = ~mask if masking == "inverted" else mask
    fill = {"zero": 0.0, "uniform": -1e9}.get(masking, fill)
    weights = scores.masked_fill(~allowed, fill).softmax(axis)
    if masking in ("nan", "uniform"):
        return weights
    zeroed = ~allowed if masking == "zeroed" else ~allowed.any(-1, keepdim=True)
    return weights.masked_fill(zeroed, 0.0)


def _plus(term: Callable[[Tensor], Tensor], *, zeroed: bool = False) -> Callable[..., Tensor]:
    """Softmax of the scores plus a term made of the mask, zeroed under the mask or not."""

    def weights(scores: Tensor, mask: Tensor, axis: int) -> Tensor:
        found = (scores + term(mask)).softmax(axis)
        return found.masked_fill(~mask, 0.0) if zeroed else found

    return weights


def _renormalised(least: float) -> Callable[..., Tensor]:
    """Weights set to zero after softmax, then divided by what is left of them."""

    def weights(scores: Tensor, mask: Tensor, axis: int) -> Tensor:
        kept = scores.softmax(axis) * mask
        return kept / kept.sum(axis, keepdim=True).clamp_min(least)

    return weights


def _minus_infinity(mask: Tensor) -> Tensor:
    return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)


def _times_infinity(mask: Tensor) -> Tensor:
    return ~mask * -torch.inf


_NOT_FILLED: dict[Masking, Callable[[Tensor, Tensor, int], Tensor]] = {
    "after": lambda scores, mask, axis: scores.softmax(axis) * mask,
    "added": _plus(lambda mask: mask),
    "lowered": _plus(lambda mask: ~mask * -1e9),
    "lowered too little": _plus(lambda mask: ~mask * -100.0),
    "lowered too little, then zeroed": _plus(lambda mask: ~mask * -100.0, zeroed=True),
    "infinity added": _plus(_minus_infinity),
    "infinity added, then zeroed": _plus(_minus_infinity, zeroed=True),
    "zero times infinity": _plus(_times_infinity),
    "zero times infinity, then zeroed": _plus(_times_infinity, zeroed=True),
    "renormalised": _renormalised(0.0),
    "renormalised safely": _renormalised(1e-9),
}


class SelfAttentionVariant(nn.Module):
    """The class of lesson 02 with choices; derived classes set them.

    Attributes:
        attention: what combines queries, keys and values.
        projected: which of q, k, v go through their projections.
        bias: whether the projections have one.
        swapped: whether queries and keys change places.
        uses_mask: whether the mask is passed on.
        pair: whether the weights are returned too.
    """

    attention: Any = staticmethod(reference_attention)
    projected = "qkv"
    bias = False
    swapped = False
    uses_mask = True
    pair = True

    def __init__(self, d_model: int, d_k: int, d_v: int) -> None:
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=self.bias)
        self.w_k = nn.Linear(d_model, d_k, bias=self.bias)
        self.w_v = nn.Linear(d_model, d_v, bias=self.bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        """(B, T, D) -> output (B, T, d_v) and weights (B, T, T)."""
        q = self.w_q(x) if "q" in self.projected else x
        k = self.w_k(x) if "k" in self.projected else x
        v = self.w_v(x) if "v" in self.projected else x
        if self.swapped:
            q, k = k, q
        result = type(self).attention(q, k, v, mask if self.uses_mask else None)
        return result if self.pair else result[0]


def self_attention_variant(**choices: Any) -> type[SelfAttentionVariant]:
    """A class like SelfAttention, with the given choices."""
    return type("SelfAttention", (SelfAttentionVariant,), choices)
