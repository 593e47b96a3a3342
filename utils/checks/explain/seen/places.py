"""True sentences on the places where a result is wrong, or all alike."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from utils.checks.compare.closeness import close
from utils.checks.observation import Array
from utils.words import listed

Sentences = Iterator[str]


def of_repeats(name: str, wanted: Array, got: Array, sizes: Mapping[str, Any]) -> Sentences:
    """Say along which axis a result is the same everywhere, where the right one is not."""
    for axis, length in enumerate(got.shape):
        mine, right = (np.moveaxis(one, axis, 0) for one in (got, wanted))
        if length > 1 and (mine == mine[:1]).all() and not (right == right[:1]).all():
            yield f"{name} is the same at every index of {_called(axis, length, sizes)}."


def _called(axis: int, length: int, sizes: Mapping[str, Any]) -> str:
    """Return what an axis is called: its number, and its letter if only one has its length."""
    letters = [letter for letter, n in sizes.items() if n == length and letter[:1].isupper()]
    if any(
        length in sizes_inside for sizes_inside in sizes.values() if isinstance(sizes_inside, list)
    ):
        letters = []  # it may be one of those
    return f"axis {axis}" + (f" ({letters[0]})" if len(letters) == 1 else "")


def of_places(
    name: str, wanted: Array, got: Array, tolerance: float, sizes: Mapping[str, Any]
) -> Sentences:
    """Say where along an axis all is wrong, or right, or by how many places all is moved."""
    far = np.logical_not(close(wanted, got.astype(wanted.dtype), tolerance))
    yield from _of_wrong_ones(name, far, sizes)
    if wanted.dtype.kind in "fi" and wanted.ndim >= 2:
        yield from _of_right_ones(name, wanted, got, tolerance)


def _of_wrong_ones(name: str, far: Array, sizes: Mapping[str, Any]) -> Sentences:
    """Say on which index of an axis all differences lie, if they lie on one."""
    if far.sum() == 1 and far.size > 1:
        yield f"Only the entry {list(map(int, np.argwhere(far)[0]))} of {name} is wrong."
        return
    for axis in range(far.ndim):
        others = tuple(k for k in range(far.ndim) if k != axis)
        wrong = np.flatnonzero(far.any(axis=others))
        if far.shape[axis] > 2 and len(wrong) == 1:
            called = _called(axis, far.shape[axis], sizes)
            yield f"{name} is wrong only at index {wrong[0]} of {called}."


def _of_right_ones(name: str, wanted: Array, got: Array, tolerance: float) -> Sentences:
    alike = close(wanted, got.astype(wanted.dtype), tolerance)
    for axis, length in enumerate(wanted.shape):
        right = np.flatnonzero(alike.all(axis=tuple(k for k in range(wanted.ndim) if k != axis)))
        most = length if length == 2 < alike.size // 2 else length - 1  # one of two is no chance
        if 0 < len(right) < most:
            places = f"{'index' if len(right) == 1 else 'indices'} {listed(list(map(str, right)))}"
            yield f"{name} is right at {places} of axis {axis}, and wrong at all others."
        for move in (1, -1) if length > 2 and not len(right) else ():
            mine = got.astype(wanted.dtype).take(range(max(0, move), length + min(0, move)), axis)
            whole = wanted.take(range(max(0, -move), length + min(0, -move)), axis)
            if close(whole, mine, tolerance).all():
                how = "late" if move > 0 else "early"
                yield f"{name} is right, but one index too {how} along axis {axis}."
