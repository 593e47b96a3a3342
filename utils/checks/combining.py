"""Wrong variants that say how they are made, so that two mistakes can be made at once."""

import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any


class Deferred(ABC):
    """A wrong variant that is made when it is first tried: most are ruled out before."""

    @abstractmethod
    def made(self) -> Any:
        """Return the function or class; each call returns the same."""

    @abstractmethod
    def together_with(self, other: "Deferred") -> "Deferred | None":
        """Return what makes both mistakes, or None if they do not go together."""


def made(answer: Any) -> Any:
    """Return a known mistake's variant itself."""
    return answer.made() if isinstance(answer, Deferred) else answer


def by_choices(build: Callable[..., Any]) -> Callable[..., Any]:
    """Remember on what a builder makes which choices it was made with.

    Args:
        build: called as build(*kinds, **choices); gives a function or a class.

    """

    @functools.wraps(build)
    def remembering(*kinds: Any, **choices: Any) -> Any:
        made = build(*kinds, **choices)
        with contextlib.suppress(AttributeError, TypeError):
            made._built = (remembering, kinds, choices)
        return made

    return remembering


def both(one: Any, other: Any) -> Any:
    """Build what makes two mistakes at once, or None if they do not go together."""
    if isinstance(one, Deferred) and isinstance(other, Deferred):
        return one.together_with(other)
    first, second = (getattr(x, "__dict__", {}).get("_built") for x in (one, other))
    if first is None or second is None or first[:2] != second[:2]:
        return None
    shared = first[2].keys() & second[2].keys()  # as of two variants of one sibling
    if any(first[2][name] != second[2][name] for name in shared):
        return None
    if shared in (first[2].keys(), second[2].keys()):
        return None  # one of them makes no choice of its own
    try:
        return first[0](*first[1], **(first[2] | second[2]))
    except (TypeError, ValueError):
        return None
