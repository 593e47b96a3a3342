"""Judge the cases of an answer one by one: what is wrong with each, and what that earns."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from utils.checks.compare.compare import Finding, compare
from utils.checks.exercise import Case, Exercise
from utils.checks.observation import Observation, Plain, ProblemKind
from utils.checks.observe.expected import expected_of, inputs_of, with_facts
from utils.checks.verdict import CaseResult, Verdict


def points_alone(
    exercise: Exercise,
    cases: Sequence[Case],
    observations: Sequence[Observation | None],
    points: float | None = None,
) -> Verdict:
    """Judge an answer by its cases; no cause is sought."""
    seen = with_all_facts(exercise, cases, observations)
    pairs = zip(cases, seen, strict=True)
    results = tuple(CaseResult(case, judge_case(exercise, case, one)) for case, one in pairs)
    return Verdict(exercise.id, results, points=points)


def with_all_facts(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation | None]
) -> list[Observation | None]:
    """Put facts in the place of what was observed in each case, if the exercise compares facts."""
    return [with_facts(exercise, c, seen) for c, seen in zip(cases, observations, strict=True)]


def judge_case(exercise: Exercise, case: Case, seen: Observation | None) -> Finding | None:
    """Return what is wrong with one observation, or None if it is right."""
    if seen is None:
        return Finding(ProblemKind.MISSING, "", "Nothing was observed for this case.")
    expected = expected_of(exercise, case)
    if expected.problem is not None and expected.problem.kind != ProblemKind.BACKWARD:
        raise RuntimeError(f"the oracle of {exercise.id} fails: {expected.problem.message}")
    finding = compare(expected, seen, exercise.tolerance, case.params)
    if finding is not None and not finding.demand:
        return finding
    # What is missed beside right numbers excuses from no law.
    return _broken_law(exercise, case, _in_types_of(expected, seen)) or finding


def _in_types_of(expected: Observation, seen: Observation) -> Observation:
    """Return an observation with arrays of the types that laws are written for."""
    wanted = expected.values
    return replace(seen, values={n: _in_type_of(wanted.get(n), x) for n, x in seen.values.items()})


def _in_type_of(wanted: Plain, got: Plain) -> Plain:
    if isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray):
        rounded = got.dtype.itemsize < wanted.dtype.itemsize  # no law holds of what was rounded
        return wanted if rounded else got.astype(wanted.dtype, copy=False)
    return got


def _broken_law(exercise: Exercise, case: Case, seen: Observation) -> Finding | None:
    for law in exercise.invariants:
        if not law.holds(inputs_of(exercise, case), seen):
            return Finding(ProblemKind.VALUES, "", law.message)
    return None
