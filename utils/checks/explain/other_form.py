"""Name that a result has another form, and what is wrong with its numbers besides.

A result is brought into the right form, and judged once more.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from utils.checks.case_results import judge_case
from utils.checks.exercise import Exercise, Mistake
from utils.checks.explain import bank, in_part, pairs
from utils.checks.explain.general import SEVERAL_FOR_ONE
from utils.checks.explain.known.agreeing import BACKWARD, Judged
from utils.checks.explain.situation import Explanation, Situation
from utils.checks.observation import Array, Observation, Plain, ProblemKind
from utils.checks.observe.expected import expected_of
from utils.checks.verdict import CaseResult
from utils.words import axes

Turn = Callable[[Array, Array], Array]  # a result, and the right one in the same case
Unpack = Callable[[Plain, Plain], Plain]  # the same, for results that are no tensors
_MOST_AXES = 4  # more have too many orders to try
Mend = Callable[[Observation | None, Observation], Observation | None]
_BY_NUMBERS = (bank.explain, in_part.explain, pairs.explain)


def explain(situation: Situation) -> Explanation | None:
    """Name that a result's form is another, and the mistake that its numbers then show."""
    exercise, telling = situation.exercise, situation.telling
    finding, seen = (telling.result.finding, telling.seen) if telling else (None, None)
    if telling is None or finding is None or seen is None or seen.problem is not None:
        return None
    name = finding.where
    wanted = expected_of(exercise, telling.result.case).values.get(name)
    for form, mend in _other_forms(finding.kind, name, wanted, seen.values.get(name)):
        again = [_judged_again(exercise, one, mend) for one in situation.judged]
        failing = next((one for one in again if not one.result.idea_holds), None)
        if failing is None:
            return Explanation(form)
        mended = Situation(exercise, again, failing, failing)
        causes = (found for one in _BY_NUMBERS if (found := one(mended)) is not None)
        if (cause := next(causes, None)) is not None:
            return Explanation(form, cause.mistake)
    return None


def _other_forms(kind: str, name: str, wanted: Plain, got: Plain) -> Iterator[tuple[Mistake, Mend]]:
    """Return what is wrong with a result's form, and how to mend that in an observation."""
    if kind == ProblemKind.SHAPE and isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray):
        for form, turn in _turns(name, wanted, got):
            yield form, partial(_turned, name=name, turn=turn)
    if kind == ProblemKind.RETURN:
        for form, unpack in _unpackings(wanted, got):
            yield form, partial(_unpacked, name=name, unpack=unpack)


def _judged_again(
    exercise: Exercise,
    judged: Judged,
    change: Mend,
) -> Judged:
    case = judged.result.case
    seen = change(judged.seen, expected_of(exercise, case))
    finding = judge_case(exercise, case, seen)
    of_values = finding is not None and finding.kind not in BACKWARD
    return Judged(CaseResult(case, finding if of_values else None), seen)


def _turns(name: str, wanted: Array, got: Array) -> Iterator[tuple[Mistake, Turn]]:
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


def _turned(
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


_AS_TENSOR = Mistake(
    "tensor_for_a_number",
    "The result is a tensor; a plain number was asked for.",
    "`.item()` or float(...) turns it into one.",
)
_AS_LIST = Mistake(
    "list_for_a_tensor",
    "The result is a list; a tensor was asked for.",
    "torch.stack makes one tensor from several, torch.tensor one from numbers.",
)


def _unpackings(wanted: Plain, got: Plain) -> Iterator[tuple[Mistake, Unpack]]:
    """Return ways to make of a result of another type what was asked for, and what each means."""
    if isinstance(wanted, (bool, int, float)) and isinstance(got, np.ndarray) and got.size == 1:
        yield _AS_TENSOR, lambda value, _: np.asarray(value).item()
    if isinstance(wanted, np.ndarray) and isinstance(got, list) and got:
        if isinstance(got[0], np.ndarray) and got[0].shape == wanted.shape:
            yield SEVERAL_FOR_ONE, lambda value, _: value[0] if isinstance(value, list) else value
        else:
            yield _AS_LIST, _as_array


def _unpacked(
    seen: Observation | None, right: Observation, name: str, unpack: Unpack
) -> Observation | None:
    """Unpack one result of an observation; what else is seen of a tensor is taken for right."""
    if seen is None or name not in seen.values:
        return seen
    if name not in right.values:
        return right
    try:
        value = unpack(seen.values[name], right.values[name])
    except (ValueError, TypeError, IndexError, OverflowError):
        return seen
    return replace(seen, values={**right.values, **seen.values, name: value}, gradients={})


def _as_array(value: Plain, wanted: Plain) -> Plain:
    with np.errstate(all="ignore"):  # an answer's numbers may be anything: no NaN is a whole one
        return np.array(value, dtype=wanted.dtype if isinstance(wanted, np.ndarray) else None)


def _permute(order: Sequence[int]) -> Turn:
    return lambda array, _: np.transpose(array, order)


def _with_axes_of(array: Array, wanted: Array) -> Array:
    return array.reshape(wanted.shape) if _long_axes(array) == _long_axes(wanted) else array


def _long_axes(array: Array) -> list[int]:
    return [size for size in array.shape if size > 1]


def _exchanged(name: str, order: Sequence[int]) -> Mistake:
    moved = axes([place for place, axis in enumerate(order) if place != axis])
    return Mistake(
        "axes_in_another_order",
        f"{name} has its {moved} in another order.",
        "Which axis is which in the docstring, and where does your code move them?",
    )


def _of_size_one(name: str, wanted: Array, got: Array) -> Mistake:
    what = "lacks an axis" if got.ndim < wanted.ndim else "has an extra axis"
    return Mistake(
        "axis_of_size_one",
        f"{name} {what} of size one.",
        "unsqueeze and None in an index add one; squeeze and a number in an index remove it.",
    )
