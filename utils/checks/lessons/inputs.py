"""Inputs made from plain parameters, the same wherever a case is posed on one machine."""

import zlib
from typing import Any

import torch
from torch import Tensor

from utils.checks.variation import current_variation

ALIKE = "axes told apart by their place, not their size"  # a demand: two sizes happen to be equal


class Draw:
    """A source of tensors for one case; its stream depends only on the case's parameters.

    A hidden case's variation is one of them.

    Args:
        dtype: name of a torch dtype, such as "float64".
        scale: factor on normal entries.
        params: the case's other parameters, which seed the stream.

    """

    def __init__(self, dtype: str = "float32", scale: float = 1.0, **params: Any) -> None:
        words = repr(sorted(params.items())) + current_variation()
        seed = zlib.crc32(words.encode())
        self._generator = torch.Generator().manual_seed(seed)
        self._dtype: torch.dtype = getattr(torch, dtype)
        self._scale = scale

    def normal(self, *shape: int, scale: float | None = None) -> Tensor:
        """Draw normal entries times the case's scale (or the given one)."""
        drawn = torch.randn(*shape, generator=self._generator, dtype=torch.float64)
        return (drawn * (self._scale if scale is None else scale)).to(self._dtype)

    def integers(self, high: int, *shape: int, low: int = 0) -> Tensor:
        """Draw integers from low up to, but not including, high."""
        return torch.randint(low, high, shape, generator=self._generator)

    def mask(self, kind: str, *shape: int) -> Tensor | None:
        """Draw a mask over the last two dimensions: True means "may be attended to".

        Args:
            kind: "none"; "padding" (each batch entry has its own length; the first is full);
                "causal"; "random"; "keep-one"; "empty" (one row with nothing allowed).
            shape: (..., T, S), or (B, S) for a batch of single queries.

        Raises:
            ValueError: the kind is unknown.

        """
        if kind == "none":
            return None
        if kind == "padding":
            return self._padding(*shape)
        if kind == "causal":
            return torch.ones(shape, dtype=torch.bool).tril()
        if kind == "keep-one":
            return torch.arange(shape[-1]).expand(shape) == self.integers(shape[-1], *shape[:-1], 1)
        if kind in ("random", "empty"):
            return self._random(kind, *shape)
        raise ValueError(f"no mask is called {kind!r}")

    def _random(self, kind: str, *shape: int) -> Tensor:
        mask = torch.rand(shape, generator=self._generator) < 0.6
        mask[..., 0] |= ~mask.any(-1)  # every row may attend somewhere
        mask[..., -1] &= ~mask.all(-1) | (shape[-1] == 1)  # but not everywhere
        if kind == "empty":
            mask.view(-1, shape[-1])[shape[0] // 2] = False
        return mask

    def _padding(self, *shape: int) -> Tensor:
        lengths = self.integers(max(shape[-1], 2), shape[0], low=1)
        lengths[0] = shape[-1]
        rows = torch.arange(shape[-1]) < lengths[:, None]
        between = (1,) * (len(shape) - 2)
        return rows.view(shape[0], *between, shape[-1]).expand(shape).clone()
