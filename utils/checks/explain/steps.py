"""Name a cause that no bank holds: one step too many, on an input or on the right result.

An answer that gives in every case what the oracle gives for a changed input does just that. So does
one whose result is, in every case, the right one after a change. What is said is measured, and so
it is true even where a student wrote it in another way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from utils.checks.explain.situation import Explanation, Situation, by
from utils.checks.framework.agreeing import LOOSE, Judged
from utils.checks.framework.changes import Change, changes
from utils.checks.framework.closeness import agree
from utils.checks.framework.compare import same_results
from utils.checks.framework.exercise import Case, Exercise, ExerciseKind, Inputs, Mistake
from utils.checks.framework.expected import changed_inputs, expected_of, inputs_of
from utils.checks.framework.observation import Array, Observation, ProblemKind
from utils.checks.framework.weights_seen import of_weights_seen

_MOST_TRIED = 250  # each costs a call of the oracle, and a check must answer at once
_MANY = 12  # tensors; of so many, those inside modules are left out
_TOLERANCE = 1e-4  # two ways to write one step differ in their last digits
_SEVERAL = 2  # failing cases that must agree, where there are so many
_LEAST = 6  # entries of a result that agree by no chance, where one case fails
_CODED = (ExerciseKind.WRITE, ExerciseKind.REPAIR)
_FIRST = ("weights", "states", "scores")  # results that others are made of


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
    for name in sorted(right.values, key=lambda name: name not in _FIRST):
        wanted = right.values[name]
        if not isinstance(wanted, np.ndarray) or _gives(wanted, shown.seen, name, exercise):
            continue
        for change in changes(torch.from_numpy(wanted)):
            if all(_is_changed(exercise, judged, name, change) for judged in [shown, *core]):
                return Mistake(
                    "right_but_changed",
                    f"The result {_called(name)} is the right one, but {change.words}.",
                    "All else is right: find the line that does this. Does the exercise ask for "
                    "it?",
                )
    return None


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
        if not _agrees(exercise, variant, shown) or same_results(variant, right, LOOSE):
            continue
        if all(_agrees(exercise, _stepped(exercise, j.result.case, step), j) for j in core):
            given = _called(step.name)
            return Mistake(
                "input_changed_first",
                f"Your code behaves as if {given} were {step.change.words}.",
                f"The rest fits the formula: follow {given} from the top of your code to where it "
                "is used.",
            )
    return None


def _agrees(exercise: Exercise, variant: Observation, judged: Judged) -> bool:
    tolerance = max(exercise.tolerance, _TOLERANCE)
    return judged.seen is not None and same_results(variant, judged.seen, tolerance)


def _steps(exercise: Exercise, case: Case) -> Iterator[_Step]:
    """Return every change of every input, those of short tensors' names first."""
    tensors = {n: x for n, x in inputs_of(exercise, case).items() if isinstance(x, Tensor)}
    if len(tensors) > _MANY:
        tensors = {name: x for name, x in tensors.items() if "." not in name}
    for name, tensor in tensors.items():
        for change in changes(tensor):
            yield _Step(name, change)


def _stepped(exercise: Exercise, case: Case, step: _Step) -> Observation:
    """Observe the oracle with one input changed; where the case has no such input, as it is."""

    def change(inputs: Inputs) -> Inputs:
        given = inputs.get(step.name)
        return inputs | {step.name: step.change.of(given)} if isinstance(given, Tensor) else inputs

    return changed_inputs(exercise, f"{step.name} {step.change.key}", change, case)
