"""Heads that share something, as in larger models (multi-query attention)."""

from collections.abc import Callable
from typing import Any

from utils.checks.exercise import Mistake

_OF_EACH = "Every head has queries, keys and values of its own: Dh columns of each projection."


def sharing_mistakes(variant: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes of attention whose heads have keys or values in common.

    Args:
        variant: builds an answer from choices.

    """
    in_pairs = tuple(
        Mistake(
            f"{which}_of_two_heads_shared",
            f"Two heads at a time share {said} (grouped-query attention).",
            _OF_EACH,
            variant(one_head=letters, made_one="pairs"),
        )
        for letters, which, said in (
            ("k", "keys", "their keys"),
            ("kv", "keys_and_values", "their keys and values"),
        )
    )
    return in_pairs + tuple(
        Mistake(
            f"{which}_of_all_heads_{how}",
            f"All heads share one head's {said}: {words} (multi-query attention).",
            _OF_EACH,
            variant(one_head=letters, made_one=made),
        )
        for letters, which, said in (
            ("k", "keys", "keys"),
            ("v", "values", "values"),
            ("kv", "keys_and_values", "keys and values"),
        )
        for how, made, words in (
            ("from_the_first", "first", "those of the first head"),
            ("averaged", "mean", "the mean over the heads"),
        )
    )
