"""What known mistakes give, as a few numbers each, to rule most of them out without a call.

A fingerprint holds, for each result of a case, its form, how many entries are NaN, its norm and two
weighted sums. Two answers that agree in all of that in every case behave alike.
"""

import functools
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from utils.checks.observation import Array, Observation, Plain, ProblemKind

# result -> (form, NaN entries, norm, sum, other sum)
Numbers: TypeAlias = tuple[int, int, float, float, float]
Print: TypeAlias = Mapping[str, Numbers]

MARGIN = 2e-4  # relative to the norm: six digits are kept, and machines differ in the last ones
_LARGEST = 1e15  # in the place of infinity, so that sums stay finite
_ONE, _OTHER = 1.0, float(np.sin(0.3))  # the weights of a first entry
_MOST_PRINTS = 500
_PRINTS: dict[int, tuple[Observation, Print]] = {}


@dataclass(frozen=True)
class Fingerprints:
    """All that is kept for an exercise.

    Attributes:
        stamp: the state of the code that it was made from.
        cases: the names of the visible cases, in order.
        right: what the right answer gives in them.
        bank: what the known mistakes give in them, by name.

    """

    stamp: str
    cases: tuple[str, ...]
    right: tuple[Print | None, ...]
    bank: Mapping[str, tuple[Print | None, ...]]


def print_of(seen: Observation | None) -> Print | None:
    """Return the fingerprint of an observation, made once; None if there is no result.

    Every mistake of a bank is held against the same few observations.
    """
    if seen is None or (seen.problem is not None and seen.problem.kind != ProblemKind.BACKWARD):
        return None
    known = _PRINTS.get(id(seen))
    if known is None or known[0] is not seen:
        if len(_PRINTS) >= _MOST_PRINTS:
            _PRINTS.clear()
        made = {name: _numbers(value) for name, value in seen.values.items()}
        known = _PRINTS[id(seen)] = seen, made
    return known[1]


def alike(one: Numbers, other: Numbers, margin: float = MARGIN, least: float = 0.0) -> bool:
    """Return whether two results are the same, as far as their fingerprints tell.

    Args:
        one: a result's numbers.
        other: another's.
        margin: the largest difference, relative to the norm.
        least: a difference that always counts as none.

    """
    if (_FORMS.get(one[0], one[0]), one[1]) != (_FORMS.get(other[0], other[0]), other[1]):
        return False
    most = margin * max(one[2], other[2], 1e-6) + least
    return (  # one after the other: this is asked a hundred thousand times for some answers
        abs(one[2] - other[2]) <= most
        and abs(one[3] - other[3]) <= most
        and abs(one[4] - other[4]) <= most
    )


def same_print(
    one: Print | None, other: Print | None, margin: float = MARGIN, least: float = 0.0
) -> bool:
    """Return whether two observations are the same, as far as their fingerprints tell."""
    if one is None or other is None:
        return one is other
    return one.keys() == other.keys() and all(
        alike(one[name], other[name], margin, least) for name in one
    )


def _numbers(value: Plain) -> Numbers:
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return _of_array(value)
    if isinstance(value, (bool, int, float)):
        return _of_number(type(value).__name__, float(value))
    if isinstance(value, (list, dict)):
        return _of_many(value)
    return (_checksum(repr(value)), 0, 0.0, 0.0, 0.0)


def _of_number(form: str, number: float) -> Numbers:
    """Return what an array of a single number gives, at a tenth of the cost."""
    entry = 0.0 if math.isnan(number) else max(-_LARGEST, min(_LARGEST, number))
    norm = math.sqrt(entry * entry)  # as it is in an array: 0 for numbers that are too small
    one, other = map(_rounded, (entry * _ONE, entry * _OTHER))
    return (_checksum(form), int(math.isnan(number)), _rounded(norm), one, other)


def _of_array(array: Array) -> Numbers:
    with np.errstate(invalid="ignore"):
        entries = array.astype(np.float64).ravel()
    nans = int(np.isnan(entries).sum())
    entries = np.nan_to_num(entries, nan=0.0).clip(-_LARGEST, _LARGEST)
    places = np.arange(entries.size)
    form = f"{array.shape} {array.dtype}"
    norm, one, other = map(_rounded, (
        np.linalg.norm(entries), entries @ np.cos(places), entries @ np.sin(1.7 * places + 0.3)
    ))  # fmt: skip
    return (_checksum(form), nans, norm, one, other)


def _rounded(number: float | np.floating[Any]) -> float:
    return float(f"{number:.6g}")


def _of_many(value: list[Plain] | dict[str, Plain]) -> Numbers:
    if isinstance(value, dict):  # its order is no part of what is compared
        items: list[tuple[object, Plain]] = sorted(value.items(), key=lambda item: repr(item[0]))
    else:
        items = list(enumerate(value))
    return _together([(key, _numbers(item)) for key, item in items])


def _together(parts: Sequence[tuple[object, Numbers]]) -> Numbers:
    form = _checksum(repr([(key, part[0]) for key, part in parts]))
    weights = np.cos(np.arange(len(parts)))
    sums = np.array([part[2:] for _, part in parts], dtype=np.float64).reshape(-1, 3)
    one, other = map(_rounded, weights @ sums[:, 1:])
    nans = sum(part[1] for _, part in parts)
    return (form, nans, _rounded(np.linalg.norm(sums[:, 0])), one, other)


@functools.lru_cache(maxsize=1000)
def _checksum(text: str) -> int:
    return zlib.crc32(text.encode()) % 1_000_000


_FORMS = {_checksum("int"): _checksum("float")}  # numbers are compared whatever their type
