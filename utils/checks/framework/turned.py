"""Bring a result of another form into the right one, to see whether its numbers are right."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from utils.checks.framework.exercise import Mistake
from utils.checks.framework.observation import Array, Observation

Turn = Callable[[Array, Array], Array]  # a result, and the right one in the same case
_MOST_AXES = 4  # more have too many orders to try


def turns(name: str, wanted: Array, got: Array) -> Iterator[tuple[Mistake, Turn]]:
    """Return ways to bring a result into the right form, and what each would mean.

    Args:
        name: the result's name.
        wanted: the right result.
        got: the answer's, with the same number of entries and another shape.

    """
    if wanted.size != got.size or wanted.shape == got.shape:
        return
    if got.ndim == wanted.ndim and got.ndim <= _MOST_AXES:
        for order in itertools.permutations(range(got.ndim)):
            if tuple(got.shape[axis] for axis in order) == wanted.shape:
                yield _exchanged(name, order), _permute(order)
    elif _long_axes(got) == _long_axes(wanted):
        yield _of_size_one(name, wanted, got), _with_axes_of


def turned(
    seen: Observation | None, right: Observation, name: str, turn: Turn
) -> Observation | None:
    """Turn one result of an observation; gradients, which belong to the other form, go."""
    value = seen.values.get(name) if seen is not None else None
    wanted = right.values.get(name)
    if seen is None or not isinstance(value, np.ndarray) or not isinstance(wanted, np.ndarray):
        return seen
    try:
        return replace(seen, values={**seen.values, name: turn(value, wanted)}, gradients={})
    except ValueError:
        return seen


def _permute(order: Sequence[int]) -> Turn:
    return lambda array, _: np.transpose(array, order)


def _with_axes_of(array: Array, wanted: Array) -> Array:
    return array.reshape(wanted.shape) if _long_axes(array) == _long_axes(wanted) else array


def _long_axes(array: Array) -> list[int]:
    return [size for size in array.shape if size > 1]


def _exchanged(name: str, order: Sequence[int]) -> Mistake:
    moved = " and ".join(str(place) for place, axis in enumerate(order) if place != axis)
    return Mistake(
        "axes_in_another_order",
        f"{name} has its axes {moved} in another order.",
        "Which axis is which in the docstring, and where does your code move them?",
    )


def _of_size_one(name: str, wanted: Array, got: Array) -> Mistake:
    what = "lacks an axis" if got.ndim < wanted.ndim else "has an axis too many"
    return Mistake(
        "axis_of_size_one",
        f"{name} {what} of size one.",
        "unsqueeze and None in an index add one; squeeze and a number in an index take it away.",
    )
