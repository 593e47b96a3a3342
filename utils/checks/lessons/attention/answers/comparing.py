"""Mistakes in what meets in a product of queries and keys, for any ``variant(**choices)``."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import functional as F

from utils.checks.framework.exercise import Mistake

_AS_THEY_ARE = (
    "The product takes queries and keys as their layers give them; only the root of their size is "
    "divided out."
)


def _unit(x: Tensor) -> Tensor:
    return F.normalize(x, dim=-1)


def _spread(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def comparing_mistakes(variant: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes of an attention that changes queries or keys before they meet."""
    return tuple(
        Mistake(name, message, _AS_THEY_ARE, variant(product=staticmethod(product)))
        for name, message, product in (
            (
                "queries_and_keys_of_length_one",
                "Queries and keys are scaled to length one first, so their lengths no longer "
                "count.",
                lambda q, k: _unit(q) @ _unit(k).mT,
            ),
            (
                "keys_of_length_one",
                "The keys are scaled to length one first, so their lengths no longer count.",
                lambda q, k: q @ _unit(k).mT,
            ),
            (
                "queries_and_keys_normalised",
                "Queries and keys are normalised, as by a LayerNorm, before they meet.",
                lambda q, k: _spread(q) @ _spread(k).mT,
            ),
            (
                "queries_normalised",
                "The queries are normalised, as by a LayerNorm, before they meet the keys.",
                lambda q, k: _spread(q) @ k.mT,
            ),
            (
                "keys_normalised",
                "The keys are normalised, as by a LayerNorm, before they meet the queries.",
                lambda q, k: q @ _spread(k).mT,
            ),
        )
    )
