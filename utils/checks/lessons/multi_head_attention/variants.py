"""Multi-head attention with one part done wrong, from which mistakes of lesson 06 are made."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.lessons.attention.masking import Masking, Softmax, masked_softmax
from utils.checks.lessons.attention.variants import RETURNED, q_k_transposed
from utils.reference.heads import reference_merge, reference_split

_ON_WEIGHTS = ("weights", "twice", "inside", "always", "calm", "unscaled", "kept")


def view_split(x: Tensor, n_heads: int) -> Tensor:
    """Cut the features of a sentence as if they were one long row: right in shape only."""
    return x.reshape(len(x), n_heads, x.shape[1], -1)


def view_merge(x: Tensor) -> Tensor:
    """Read the heads out one after another as one long row: right in shape only."""
    return x.reshape(len(x), x.shape[2], -1)


class HeadsVariant(nn.Module):
    """MultiHeadAttention with choices that derived classes set.

    Attributes:
        split, merge: how heads are cut and joined.
        scale: (D, Dh) -> factor on the scores.
        product: (q, k) -> scores before the scale.
        masking, fill, axis, softmax: as in `masked_softmax`.
        projected: which of w_q, w_k, w_v, w_o are used.
        swapped: whether queries and keys trade places after projection.
        keys, values: the argument ("query", "key" or "value") that they come from.
        placed: the mask's axis for heads: "shared", "none", "two" axes, or "repeated" for heads
            that stand in front of the batch, where they stand behind it.
        clears_empty: whether the output of a row with nothing allowed is set to zero.
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
        output_masked: whether the output, too, is made with weights that the mask acted on.

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
    clears_empty = False
    projected = "qkvo"
    swapped = False
    keys = "key"
    values = "value"
    one_head = ""
    made_one = "first"
    dropped = "weights"
    returned = "weights"
    results = "both"
    output_masked = True

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % n_heads:
            numbers = f"{d_model} features, {n_heads} heads"
            raise ValueError(f"the features cannot be shared out among the heads: {numbers}")
        self.n_heads, self.p = n_heads, dropout
        for name in "qkvo":
            setattr(self, f"w_{name}", nn.Linear(d_model, d_model))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
        """Map (B, T, D) and twice (B, S, D) to output (B, T, D) and weights (B, H, T, S)."""
        given = {"query": query, "key": key, "value": value}
        q = self._heads("q", query)
        k, v = self._heads("k", given[self.keys]), self._heads("v", given[self.values])
        q, k = (k, q) if self.swapped else (q, k)
        weights = self._attend(self._drop(q, "queries"), k, mask)
        mixing = weights if self.output_masked else self._attend(q, k, None)
        if self.dropped == "apart":
            mixing = self._weigh(self._drop(self._scores(q, k), "apart"), mask)
        used = self._drop(mixing, *_ON_WEIGHTS)
        joined = self._drop(self.merge(used @ self._drop(v, "values")), "context", "inside")
        output = self._drop(self._layer("o", joined), "output", "twice")
        if self.clears_empty and mask is not None:
            output = output * mask.any(-1, keepdim=True)
        returned = {"weights": weights, "dropped": used, "mean": weights.mean(1)}
        returned["turned"] = weights.transpose(1, 2)
        scores = self._scores(q, k) if self.results == "scores" else weights
        return RETURNED[self.results](output, returned[self.returned], scores)

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
        size, heads, queries, keys = scores.shape
        copies = mask.expand(size, queries, keys).repeat(heads, 1, 1)
        return copies.view(size, heads, queries, keys)

    def _layer(self, name: str, x: Tensor) -> Tensor:
        if name not in self.projected:
            return x
        projected: Tensor = getattr(self, f"w_{name}")(x)
        return projected

    def _heads(self, name: str, x: Tensor) -> Tensor:
        heads: Tensor = self.split(self._layer(name, x), self.n_heads)
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
