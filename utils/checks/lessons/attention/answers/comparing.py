"""Mistakes in what meets in a product of queries and keys, for any ``variant(**choices)``."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from utils.checks.exercise import Mistake
from utils.checks.explain.seen.changes import normalised, of_length_one

_AS_THEY_ARE = (
    "The product takes queries and keys as their layers give them; only the root of their size is "
    "divided out."
)


def cosines(q: Tensor, k: Tensor) -> Tensor:
    """Compare queries (..., T, Dk) and keys (..., S, Dk) by the angle between them alone."""
    return of_length_one(q) @ of_length_one(k).mT


def comparing_mistakes(variant: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes of an attention that changes queries or keys before they meet."""
    return tuple(
        Mistake(name, message, _AS_THEY_ARE, variant(product=staticmethod(product)))
        for name, message, product in (
            (
                "queries_and_keys_of_length_one",
                "Queries and keys are scaled to length one first, so their lengths no longer "
                "count.",
                cosines,
            ),
            (
                "keys_of_length_one",
                "The keys are scaled to length one first, so their lengths no longer count.",
                lambda q, k: q @ of_length_one(k).mT,
            ),
            (
                "queries_and_keys_normalised",
                "Queries and keys are normalised, as by a LayerNorm, before they meet.",
                lambda q, k: normalised(q) @ normalised(k).mT,
            ),
            (
                "queries_normalised",
                "The queries are normalised, as by a LayerNorm, before they meet the keys.",
                lambda q, k: normalised(q) @ k.mT,
            ),
            (
                "keys_normalised",
                "The keys are normalised, as by a LayerNorm, before they meet the queries.",
                lambda q, k: q @ normalised(k).mT,
            ),
        )
    )
