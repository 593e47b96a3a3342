"""Name a cause that no bank holds: one step too many, on an input or on the right result.

An answer that gives in every case what the oracle gives for a changed input does just that. So does
one whose result is, in every case, the right one after a change. What is said is measured, and so
it is true even where a student wrote it in another way.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeGuard

import numpy as np
import torch
from torch import Tensor

from utils.checks.compare.closeness import agree
from utils.checks.compare.compare import same_results
from utils.checks.exercise import Case, Exercise, ExerciseKind, Inputs, Mistake
from utils.checks.explain.known.agreeing import LOOSE, Judged
from utils.checks.explain.seen.across_cases import factor_everywhere
from utils.checks.explain.seen.changes import Change, changes, changes_of_number
from utils.checks.explain.seen.entries_seen import are_shares
from utils.checks.explain.seen.weights_seen import of_weights_seen
from utils.checks.explain.situation import Explanation, Situation, by
from utils.checks.observation import Array, Observation, Plain, ProblemKind
from utils.checks.observe.expected import changed_inputs, expected_of, inputs_of

_MOST_TRIED = 250  # each costs a call of the oracle, and a check must answer at once
_MANY = 12  # tensors; of so many, those inside modules are left out
_TOLERANCE = 1e-4  # two ways to write one step differ in their last digits
_NEAR = 1e-3  # share by which a number counts as another one
_SEVERAL = 2  # failing cases that must agree, where there are so many
_LEAST = 6  # entries of a result that agree by no chance, where one case fails
_CODED = (ExerciseKind.WRITE, ExerciseKind.REPAIR)
_ALL_ELSE = "All else is right: find the line that does this. Does the exercise ask for it?"
_JOINED: Final[Mapping[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "with {} added": torch.add,
    "with {} subtracted": torch.sub,
    "multiplied by {}": torch.mul,
}


@dataclass(frozen=True)
class _Step:
    """A change, and the name of the input that it is made to."""

    name: str
    change: Change


def explain(situation: Situation) -> Explanation | None:
    """Name what an answer does besides what is asked for, if that is one step."""
    if situation.telling is None:
        return None
    return by(_one_step(situation.exercise, situation.judged, situation.telling))


def _one_step(exercise: Exercise, judged: Sequence[Judged], shown: Judged) -> Mistake | None:
    finding, seen = shown.result.finding, shown.seen
    if finding is None or finding.kind != ProblemKind.VALUES or finding.demand or seen is None:
        return None
    if exercise.probe.kind not in _CODED or exercise.facts is not None or not seen.values:
        return None
    core = [j for j in judged if j.result.case.is_core or j is shown]
    failing = [j for j in core if not j.holds]
    if len(failing) < _SEVERAL and _size(shown) < _LEAST:
        return None
    with np.errstate(all="ignore"), torch.no_grad():
        return (
            _after(exercise, core, shown)
            or _multiplied(exercise, core)
            or _joined(exercise, core, shown)
            or _before(exercise, core, shown)
            or of_weights_seen(exercise, core)
        )


def _called(name: str) -> str:
    """Return how an input or a result is named in a sentence."""
    return name if " " in name else f"`{name}`"


def _size(judged: Judged) -> int:
    values = judged.seen.values.values() if judged.seen is not None else ()
    return max((value.size for value in values if isinstance(value, np.ndarray)), default=0)


def _after(exercise: Exercise, core: Sequence[Judged], shown: Judged) -> Mistake | None:
    """Return that a result is the right one, changed."""
    right = expected_of(exercise, shown.result.case)
    for name, wanted in _earliest_first(right.values):
        if not isinstance(wanted, np.ndarray) or _gives(wanted, shown.seen, name, exercise):
            continue
        for change in changes(torch.from_numpy(wanted)):
            if all(_is_changed(exercise, judged, name, change) for judged in [shown, *core]):
                return _right_but(name, change.words)
    return None


def _earliest_first(values: Mapping[str, Plain]) -> Iterator[tuple[str, Plain]]:
    """Yield results, those first that are shared out: others are made of them."""
    yield from sorted(values.items(), key=lambda item: not are_shares(item[1]))


def _right_but(name: str, words: str) -> Mistake:
    message = f"The result {_called(name)} is the right one, but {words}."
    return Mistake("right_but_changed", message, _ALL_ELSE)


def _multiplied(exercise: Exercise, core: Sequence[Judged]) -> Mistake | None:
    """Return that a result is multiplied by one number, or by one made of a size, in all cases."""
    right = expected_of(exercise, core[0].result.case)
    for name, _ in _earliest_first(right.values):
        if factor := factor_everywhere(exercise, core, name):
            return _right_but(name, f"multiplied by {factor}")
    return None


def _joined(exercise: Exercise, core: Sequence[Judged], shown: Judged) -> Mistake | None:
    """Return that a result is the right one, joined with an input of its form."""
    given = inputs_of(exercise, shown.result.case)
    for name, wanted in _earliest_first(expected_of(exercise, shown.result.case).values):
        if not isinstance(wanted, np.ndarray) or _gives(wanted, shown.seen, name, exercise):
            continue
        for other in (n for n, x in given.items() if _is_alike(x, wanted)):
            for words, join in _JOINED.items():
                if all(_is_joined(exercise, j, (name, other), join) for j in [shown, *core]):
                    return _right_but(name, words.format(_called(other)))
    return None


def _is_alike(value: object, wanted: Array) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.is_floating_point() and value.shape == wanted.shape


def _is_joined(
    exercise: Exercise,
    judged: Judged,
    names: tuple[str, str],
    join: Callable[[Tensor, Tensor], Tensor],
) -> bool:
    case = judged.result.case
    wanted = expected_of(exercise, case).values.get(names[0])
    other = inputs_of(exercise, case).get(names[1])
    if not isinstance(wanted, np.ndarray) or not _is_alike(other, wanted):
        return False
    return _gives(join(torch.from_numpy(wanted), other).numpy(), judged.seen, names[0], exercise)


def _is_changed(exercise: Exercise, judged: Judged, name: str, change: Change) -> bool:
    wanted = expected_of(exercise, judged.result.case).values.get(name)
    if not isinstance(wanted, np.ndarray):
        return wanted is None
    try:
        return _gives(change.of(torch.from_numpy(wanted)).numpy(), judged.seen, name, exercise)
    except (RuntimeError, IndexError):
        return False


def _gives(wanted: Array, seen: Observation | None, name: str, exercise: Exercise) -> bool:
    """Return whether an answer's result has these numbers."""
    got = seen.values.get(name) if seen is not None else None
    if not isinstance(got, np.ndarray) or got.shape != wanted.shape:
        return False
    return agree(wanted, got.astype(wanted.dtype), max(exercise.tolerance, _TOLERANCE))


def _before(exercise: Exercise, core: Sequence[Judged], shown: Judged) -> Mistake | None:
    """Return that an answer gives what the right one gives for a changed input."""
    right = expected_of(exercise, shown.result.case)
    for step in islice(_steps(exercise, shown.result.case), _MOST_TRIED):
        variant = _stepped(exercise, shown.result.case, step)
        near = (
            LOOSE
            if isinstance(inputs_of(exercise, shown.result.case)[step.name], Tensor)
            else _NEAR
        )
        if not _agrees(exercise, variant, shown) or same_results(variant, right, near):
            continue
        if all(_agrees(exercise, _stepped(exercise, j.result.case, step), j) for j in core):
            named = _called(step.name)
            return Mistake(
                "input_changed_first",
                f"Your code behaves as if {named} were {step.change.words}.",
                f"The rest fits the formula: follow {named} from the top of your code to where it "
                "is used.",
            )
    return None


def _agrees(exercise: Exercise, variant: Observation, judged: Judged) -> bool:
    tolerance = max(exercise.tolerance, _TOLERANCE)
    return judged.seen is not None and same_results(variant, judged.seen, tolerance)


def _steps(exercise: Exercise, case: Case) -> Iterator[_Step]:
    """Return every change of every input, those of plain numbers and of short names first."""
    inputs = inputs_of(exercise, case)
    for name, value in inputs.items():
        if _is_number(value):
            yield from (_Step(name, change) for change in changes_of_number(value))
    tensors = {name: x for name, x in inputs.items() if isinstance(x, Tensor)}
    if len(tensors) > _MANY:
        tensors = {name: x for name, x in tensors.items() if "." not in name}
    for name, tensor in tensors.items():
        yield from (_Step(name, change) for change in changes(tensor))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _stepped(exercise: Exercise, case: Case, step: _Step) -> Observation:
    """Observe the oracle with one input changed; where the case has no such input, as it is."""

    def change(inputs: Inputs) -> Inputs:
        given = inputs.get(step.name)
        is_meant = isinstance(given, Tensor) or _is_number(given)
        return inputs | {step.name: step.change.of(given)} if is_meant else inputs

    return changed_inputs(exercise, f"{step.name} {step.change.key}", change, case)
