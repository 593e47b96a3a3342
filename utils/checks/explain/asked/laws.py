"""Laws that a right result keeps when an input changes, and which of them an answer breaks.

A law is only told of where the oracle was seen to keep it with the same inputs.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from utils.checks.compare.closeness import close
from utils.checks.exercise import Inputs
from utils.checks.observation import Array, Observation

Change = Callable[[Inputs], Inputs]
Call = Callable[[Change], Observation]
_MOST_INPUTS = 4  # weights by the dozen say little one by one
_FEW = 2  # entries along an axis: one sees no other


@dataclass(frozen=True)
class Law:
    """What happens to a result when all entries of an input change alike.

    Attributes:
        change: what is done to the input.
        says: that in words; {} is the input's name.
        after: what then happens to the result.
        result: that in words.

    """

    change: Callable[[torch.Tensor], torch.Tensor]
    says: str
    after: Callable[[Array], Array]
    result: str


_LAWS = tuple(
    Law(change, says, after, result)
    for (change, says), (after, result) in itertools.product(
        (
            (lambda x: x + 1, "1 is added to all of {}"),
            (lambda x: x * 2, "all of {} is doubled"),
            (lambda x: -x, "the sign of {} is turned"),
        ),
        (
            (lambda y: y, "stays the same"),
            (lambda y: y + 1, "grows by 1"),
            (lambda y: y * 2, "doubles"),
            (lambda y: -y, "turns its sign"),
        ),
    )
)


_TWO_CHANGES: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    lambda x: x + 1,
    lambda x: x * 2,
)


@dataclass(frozen=True)
class Calls:
    """An answer and the oracle, to be called with changed inputs.

    Attributes:
        mine: calls the answer.
        right: calls the oracle.
        where: the result that is looked at.
        tolerance: as the exercise compares.

    """

    mine: Call
    right: Call
    where: str
    tolerance: float

    def results(self, change: Change) -> tuple[Array, Array] | None:
        """Return the answer's result and the right one, if both are numbers of one form."""
        found = [call(change).values.get(self.where) for call in (self.mine, self.right)]
        arrays = [_as_array(value) for value in found]
        if any(a is None for a in arrays) or arrays[0].shape != arrays[1].shape:  # type: ignore[union-attr]
            return None
        return arrays[0], arrays[1]  # type: ignore[return-value]

    def alike(self, one: Array, other: Array) -> bool:
        """Return whether two results agree, with room for what a change adds."""
        return one.shape == other.shape and bool(close(one, other, 10 * self.tolerance).all())


def broken_laws(inputs: Inputs, calls: Calls) -> Iterator[str]:
    """Say which laws a right result keeps and an answer's does not, or the other way round."""
    before = calls.results(dict)
    if before is None:
        return
    names = [name for name, value in inputs.items() if _is_changeable(name, value)][:_MOST_INPUTS]
    with np.errstate(all="ignore"):  # an answer's numbers may be anything
        for name in names:
            yield from _between_entries(name, inputs[name], before, calls)
        if not np.isfinite(np.subtract(*before)).all():
            return  # NaN stays NaN whatever is changed: that says nothing of the input
        if _is_constant_error(names, before, calls):
            yield (
                f"{calls.where} is off by the same numbers whatever goes in: something is added "
                "that does not belong there, or is not added."
            )
            return
        for name in names:
            yield from _of_input(name, before, calls)


def _is_constant_error(names: list[str], before: tuple[Array, Array], calls: Calls) -> bool:
    """Return whether no input changes by how much an answer is off.

    A single one may leave the error alone because it is added to a result that is wrong anyway.

    """
    moving = [
        name
        for name in names
        if (after := calls.results(_changing(name, _TWO_CHANGES[0]))) is None
        or not calls.alike(before[1], after[1])
    ]
    return bool(moving) and all(
        _leaves_error(name, change, before, calls) for name in moving for change in _TWO_CHANGES
    )


def _of_input(name: str, before: tuple[Array, Array], calls: Calls) -> Iterator[str]:
    for says, laws in itertools.groupby(_LAWS, key=lambda law: law.says):
        group = list(laws)
        after = calls.results(_changing(name, group[0].change))
        if after is None:
            return
        for law in group:
            mine, right = (
                calls.alike(law.after(one), other) for one, other in zip(before, after, strict=True)
            )
            if right and not mine:
                changed, result = says.format(f"`{name}`"), _said(calls.where)
                yield f"When {changed}, the right {result} {law.result}. Not yours."
                return


def _said(where: str) -> str:
    """Return what keeps a law: the result itself, or what was measured of it by its name."""
    return where if " " in where else "result"


def _leaves_error(
    name: str,
    change: Callable[[torch.Tensor], torch.Tensor],
    before: tuple[Array, Array],
    calls: Calls,
) -> bool:
    """Return whether an answer is off as before when an input changes, and the right result moves.

    One change alone does not tell: numbers at exchanged places are off as before if 1 is added.

    """
    after = calls.results(_changing(name, change))
    if after is None or calls.alike(before[1], after[1]):
        return False
    return calls.alike(np.subtract(*before), np.subtract(*after))


def _between_entries(
    name: str, value: torch.Tensor, before: tuple[Array, Array], calls: Calls
) -> Iterator[str]:
    """Say whether the first entry along an axis sees the last one and should not, or should.

    Axes of one length in an input and in the right result belong together, if there is one each.
    """
    for axis, length in enumerate(before[1].shape):
        places = [place for place, size in enumerate(value.shape) if size == length]
        if length < _FEW or len(places) != 1 or list(before[1].shape).count(length) > 1:
            continue
        place = places[0]
        after = calls.results(_changing(name, partial(_other_last, axis=place)))
        if after is None:
            return
        mine, right = (
            calls.alike(one.take([0], axis), other.take([0], axis))
            for one, other in zip(before, after, strict=True)
        )
        if mine != right:
            sees, should = ("does not change", "should") if mine else ("changes", "should not")
            yield (
                f"Index 0 along axis {axis} of {calls.where} {sees} when the last index along axis "
                f"{place} of `{name}` does, and it {should}."
            )


def _changing(name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    return lambda inputs: {**inputs, name: change(inputs[name])}


def _other_last(x: torch.Tensor, axis: int) -> torch.Tensor:
    last = x.narrow(axis, x.shape[axis] - 1, 1)
    return torch.cat([x.narrow(axis, 0, x.shape[axis] - 1), last.flip(-1) + 1], axis)


def _is_changeable(name: str, value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and "." not in name


def _as_array(value: object) -> Array | None:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value
    return np.array(value) if isinstance(value, float) else None
