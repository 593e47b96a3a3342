"""How much an answer returned, so that no cause is sought in far more than was asked for.

A search holds an answer against hundreds of mistakes, and judging is one process for a whole class.
What is counted is the same on every machine, as no clock is.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from utils.checks.observation import Observation

MOST_TIMES = 4  # as much as is asked for
ALWAYS_FEW = 500  # parts that are read in no time, however little is asked for
_ENTRIES = 256  # entries of an array, or letters, that cost what a part does


def is_far_more(wanted: Observation, got: Observation) -> bool:
    """Return whether an answer returned far more than what is right, whatever it holds."""
    entries = values_in(wanted.values) + values_in(wanted.gradients)
    most = ALWAYS_FEW + MOST_TIMES * (entries + _parts(wanted.values) + _parts(wanted.gradients))
    return _parts(got.values) + _parts(got.gradients) > most


def of_amount(wanted: Observation, got: Observation) -> str:
    """Say how much of what came, and how much of it was asked for."""
    more = {
        name: values_in(value) - values_in(wanted.values.get(name, {}))
        for name, value in got.values.items()
    }
    name = max(more, key=lambda name: more[name], default="")
    if not name or more[name] <= 0:
        return ""
    asked = values_in(wanted.values.get(name, {}))
    return (
        f"{name} holds {more[name] + asked:,} values, where {asked:,} "
        f"{'is' if asked == 1 else 'are'} asked for."
    )


def values_in(value: object) -> int:
    """Count the numbers, words and so on that a value holds, and an array's entries."""
    return sum(one.size if isinstance(one, np.ndarray) else 1 for one in _leaves(value))


def _parts(value: object) -> int:
    """Count what reading a value costs: its parts, and its arrays' entries and letters by many."""
    return sum(
        1 + (one.size if isinstance(one, np.ndarray) else len(one)) // _ENTRIES
        if isinstance(one, (np.ndarray, str))
        else 1
        for one in _leaves(value, inner=True)
    )


def _leaves(value: object, *, inner: bool = False) -> Iterator[object]:
    """Yield what a value holds and, if `inner`, a number for each list and dictionary, too."""
    left: list[object] = [value]
    while left:
        one = left.pop()
        if isinstance(one, Mapping):
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
        else:
            yield one
            continue
        if inner:
            yield len(one)
