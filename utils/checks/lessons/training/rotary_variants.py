"""Attention with positions that turn, with one part done wrong, from which mistakes are made."""

from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.lessons.multi_head_attention.variants import HeadsVariant
from utils.reference.heads import reference_merge, reference_split
from utils.reference.positions import reference_rotary


class RotaryVariant(HeadsVariant):
    """RotaryAttention with choices that derived classes set, besides those of HeadsVariant.

    Attributes:
        turned: which of q, k and v are turned.
        times: how often they are turned.
        place: where they are turned: in their "heads", over all "features" before the cut, or as
            "inputs", before the projections, over all features or each head's ("inputs, in heads").
        paired: whether a pair is two "neighbours", or a column and the one half a head further
            ("halves").
        spread: whether the angles fall over the columns of a "head", or of all heads ("all").
        ends: whether queries and keys are counted from the first word, or so that the last ones
            stand at the same place.
        own_base: a base that replaces the given one.
        on_end: whether keys are counted on from the last query.
        back: which of q and k are turned the other way round.

    """

    turned = "qk"
    times = 1
    place = "heads"
    paired = "neighbours"
    spread = "head"
    ends = False
    own_base: float | None = None
    back = ""
    on_end = False

    def __init__(
        self, d_model: int, n_heads: int, dropout: float = 0.0, base: float = 10000.0
    ) -> None:
        super().__init__(d_model, n_heads, dropout)
        self.base = base if self.own_base is None else self.own_base

    def _layer(self, name: str, x: Tensor) -> Tensor:
        turns = name in self.turned
        given = self._turn(x) if turns and self.place == "inputs" else x
        if turns and self.place == "inputs, in heads":
            given = reference_merge(self._turn(reference_split(x, self.n_heads)))
        projected = super()._layer(name, given)
        return self._turn(projected) if turns and self.place == "features" else projected

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
        """Map (B, T, D) and twice (B, S, D) to output (B, T, D) and weights (B, H, T, S)."""
        self._queries = query.shape[1]
        self._late = max(key.shape[1] - query.shape[1], 0) if self.ends else 0
        return super().forward(query, key, value, mask)

    def _heads(self, name: str, x: Tensor) -> Tensor:
        heads = super()._heads(name, x)
        if name not in self.turned or self.place != "heads":
            return heads
        offset = self._late if name == "q" else self._queries * self.on_end
        return self._turn(heads, offset, back=name in self.back)

    def _turn(self, x: Tensor, offset: int = 0, *, back: bool = False) -> Tensor:
        # base^(-2i / D) is a root of base, raised to -2i / Dh
        base = self.base ** (1 / self.n_heads) if self.spread == "all" else self.base
        for _ in range(self.times):
            x = _turned(x, base, offset, back=back, halves=self.paired == "halves")
        return x


def _turned(x: Tensor, base: float, offset: int, *, back: bool, halves: bool) -> Tensor:
    """Turn x by its positions, or by the same angles backwards: then the pairs are mirrored."""
    if halves:
        woven = torch.stack(x.chunk(2, -1), -1).flatten(-2)
        turned = _turned(woven, base, offset, back=back, halves=False)
        return torch.cat([turned[..., 0::2], turned[..., 1::2]], -1)
    if not back:
        return reference_rotary(x, base, offset)
    mirror = x.new_tensor([1.0, -1.0]).repeat(x.shape[-1] // 2)
    return reference_rotary(x * mirror, base, offset) * mirror


@by_choices
def rotary_variant(**choices: Any) -> type[RotaryVariant]:
    """Return a class like RotaryAttention, with the given choices."""
    return type("RotaryAttention", (RotaryVariant,), choices)
