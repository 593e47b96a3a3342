"""True sentences on results that are no arrays: lists of words, and facts."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

_SEVERAL = 2  # words that have changed: a single one may be a mistake of its own
_SEPARATORS = (" ", ", ", ",", "\n", "|", "/", "")
Apart = tuple[object, object]  # what is asked for, and what came


def of_facts(name: str, wanted: Mapping[str, object], got: Mapping[str, object]) -> Iterator[str]:
    """Name the facts beside the one shown that hold and should not."""
    for fact, right in wanted.items():
        if right is False and fact != name and got.get(fact, False) is not False:
            yield f"This holds too, but should not: {fact}."


def of_wrapped(name: str, wanted: object, got: object) -> Iterator[str]:
    """Say that everything in a list comes in a pair, in a longer string or in a dictionary."""
    if not (isinstance(wanted, list) and isinstance(got, list)) or _holds_arrays([wanted, got]):
        return
    apart = list(_apart(wanted, got))
    kinds = {_kind(one, other) for one, other in apart}
    if len(kinds) != 1:
        return
    one, other = apart[0]
    says = {
        "more": (
            f"Everything in {name} comes with something extra: of {other!r}, only {one!r} is "
            "asked for."
        ),
        "string": f"Each entry of {name} is one string; a list of strings is asked for.",
        "dictionary": f"Each entry of {name} is a dictionary, which holds every key once; a list "
        "is asked for.",
    }
    yield from (text for kind, text in says.items() if kind in kinds)


def of_renamed(name: str, wanted: object, got: object) -> Iterator[str]:
    """Say that words stand for one another, each for the same one throughout."""
    words = list(_words(wanted, got))
    names = dict(words)
    changed = {one: other for one, other in names.items() if one != other}
    throughout = all(names[one] == other for one, other in words)
    if not throughout or len(changed) < _SEVERAL or len(set(names.values())) < len(names):
        return
    one, other = next(iter(changed.items()))
    yield (
        f"In {name} every {one!r} has become {other!r}, and other words likewise: the right "
        "places are found, but the names are read from another list, or from one in another order."
    )


def _words(wanted: object, got: object) -> Iterator[tuple[object, object]]:
    """Yield all pairs of words of two nested lists; (None, one of them) where forms differ."""
    if isinstance(wanted, str) and isinstance(got, str):
        yield wanted, got
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        yield from itertools.chain.from_iterable(map(_words, wanted, got))
    else:
        yield from ((None, 1), (None, 2))  # no word has two meanings


def _holds_arrays(value: object) -> bool:
    inside = value.values() if isinstance(value, dict) else value
    if isinstance(inside, (np.ndarray, str)) or not isinstance(inside, Iterable):
        return isinstance(inside, np.ndarray)
    return any(map(_holds_arrays, inside))


def _apart(wanted: object, got: object) -> Iterator[Apart]:
    """Yield the innermost pairs that differ, of two lists of one form."""
    if _kind(wanted, got):
        yield wanted, got
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        yield from itertools.chain.from_iterable(map(_apart, wanted, got))
    elif wanted != got and (wanted or got):  # what is empty in another form holds nothing
        yield wanted, got


def _kind(wanted: object, got: Any) -> str:
    """Return how one value holds another, or nothing."""
    if isinstance(wanted, str) and isinstance(got, str):
        joined = wanted and len(got) > len(wanted)
        return "more" if joined and (got.startswith(wanted) or got.endswith(wanted)) else ""
    if isinstance(got, list) and any(_is_like(wanted, part) for part in got):
        return "more"
    if not isinstance(wanted, list) or not all(isinstance(part, str) for part in wanted):
        return ""
    if isinstance(got, str):
        return "string" if any(sign.join(wanted) == got for sign in _SEPARATORS) else ""
    is_dictionary = isinstance(got, dict) and bool(wanted)
    return "dictionary" if is_dictionary and all(v in wanted for v in got.values()) else ""


def _is_like(wanted: object, part: object) -> bool:
    """Return whether a part is what is asked for: the same names, or a list of them."""
    return (
        isinstance(wanted, (str, list))
        and bool(wanted)
        and type(part) is type(wanted)
        and (part == wanted)
    )
