"""Compare observations with the oracle's and explain the first difference."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from utils.checks.framework.agreeing import Judged
from utils.checks.framework.amount import is_far_more, of_amount
from utils.checks.framework.closeness import has_no_number
from utils.checks.framework.compare import Finding, compare
from utils.checks.framework.exercise import Case, Exercise, Mistake
from utils.checks.framework.expected import expected_of, inputs_of, with_facts
from utils.checks.framework.general_mistakes import general_mistake
from utils.checks.framework.naming import Named, name_mistakes
from utils.checks.framework.observation import Observation, Plain, ProblemKind
from utils.checks.framework.one_step import one_step
from utils.checks.framework.silent_tests import with_reasons
from utils.checks.framework.symptoms import symptoms_of
from utils.checks.framework.turned import turned, turns, unpacked, unpackings
from utils.checks.framework.verdict import CaseResult, Verdict


def judge(
    exercise: Exercise,
    cases: Sequence[Case],
    observations: Sequence[Observation | None],
    points: float | None = None,
    reasons: Collection[str] = (),
) -> Verdict:
    """Judge an answer by its observations.

    Args:
        exercise: probe, oracle and mistakes.
        cases: what was asked, in order.
        observations: what came back for each case; None if nothing did.
        points: the exercise's points, if it is graded.
        reasons: why a student's test never fails, as its code shows.

    """
    with_values = _with_values(exercise, cases, observations)
    verdict = _verdict(exercise, cases, with_values, points)
    shown = verdict.first_failure
    if shown is None:
        return verdict
    judged = [Judged(*pair) for pair in zip(verdict.results, with_values, strict=True)]
    judged_shown = judged[verdict.results.index(shown)]
    if _is_far_more(exercise, judged_shown):
        return _by_its_amount(exercise, verdict, judged_shown)
    judged = [replace(j, seen=None) if _is_far_more(exercise, j) else j for j in judged]
    telling = next((j for j in (judged_shown, *judged) if _tells_something(exercise, j)), None)
    mistake, second = None, None
    if telling is not None:
        mistake, second = name_mistakes(exercise, judged, telling)
        if mistake is None:
            mistake, second = _causes_in_another_form(exercise, judged, telling)
    elif any(j.result.case.is_core and j.holds for j in judged):  # the places of NaN tell
        mistake, second = name_mistakes(exercise, judged, judged_shown)
    mistake = mistake or general_mistake(exercise, shown.case, judged_shown.seen, shown.finding)
    if mistake is None and telling is not None:
        mistake = one_step(exercise, judged, telling)
    mistake = with_reasons(mistake, reasons)
    symptoms = () if mistake is not None else symptoms_of(exercise, judged, judged_shown)
    return replace(verdict, mistake=mistake, second=second, symptoms=symptoms)


def _tells_something(exercise: Exercise, judged: Judged) -> bool:
    """Return whether a case's result, which is wrong, has a number to tell what went wrong."""
    finding, seen = judged.result.finding, judged.seen
    if finding is None or judged.holds:
        return False
    if finding.kind != ProblemKind.VALUES or seen is None:
        return True
    name = finding.where.partition("[")[0]
    wanted = expected_of(exercise, judged.result.case).values.get(name)
    return not has_no_number(wanted, seen.values.get(name))


def _is_far_more(exercise: Exercise, judged: Judged) -> bool:
    """Return whether so much came back in a case that no cause is sought in it."""
    if judged.seen is None:
        return False
    return is_far_more(expected_of(exercise, judged.result.case), judged.seen)


def _by_its_amount(exercise: Exercise, verdict: Verdict, shown: Judged) -> Verdict:
    """Explain a result that is far larger than the right one by that alone."""
    case, finding, seen = shown.result.case, shown.result.finding, shown.seen
    mistake = general_mistake(exercise, case, seen, finding)
    says = of_amount(expected_of(exercise, case), seen) if mistake is None and seen else ""
    return replace(verdict, mistake=mistake, symptoms=(says,) if says else ())


def points_alone(
    exercise: Exercise,
    cases: Sequence[Case],
    observations: Sequence[Observation | None],
    points: float | None = None,
) -> Verdict:
    """Judge an answer as `judge` does; no cause is sought."""
    return _verdict(exercise, cases, _with_values(exercise, cases, observations), points)


def score(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation | None]
) -> float:
    """Return the share of an exercise's points that an answer earns; no cause is sought."""
    return points_alone(exercise, cases, observations, points=1.0).score


def _with_values(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation | None]
) -> list[Observation | None]:
    return [with_facts(exercise, c, seen) for c, seen in zip(cases, observations, strict=True)]


def _verdict(
    exercise: Exercise,
    cases: Sequence[Case],
    with_values: Sequence[Observation | None],
    points: float | None,
) -> Verdict:
    results = tuple(
        CaseResult(case, judge_case(exercise, case, seen))
        for case, seen in zip(cases, with_values, strict=True)
    )
    return Verdict(exercise.id, results, points=points)


def _causes_in_another_form(exercise: Exercise, judged: Sequence[Judged], shown: Judged) -> Named:
    """Return that a result's axes are others, and what is wrong with its numbers besides."""
    finding, seen = shown.result.finding, shown.seen
    if finding is None or seen is None or seen.problem is not None:
        return None, None
    name = finding.where
    wanted = expected_of(exercise, shown.result.case).values.get(name)
    for form, change in _other_forms(finding.kind, name, wanted, seen.values.get(name)):
        again = [_judged_again(exercise, j, change) for j in judged]
        failing = next((j for j in again if not j.result.idea_holds), None)
        if failing is None:
            return form, None
        cause = name_mistakes(exercise, again, failing)[0]
        if cause is not None:
            return form, cause
    return None, None


def _other_forms(
    kind: str, name: str, wanted: Plain, got: Plain
) -> Iterator[tuple[Mistake, Callable[[Observation | None, Observation], Observation | None]]]:
    """Return what is wrong with a result's form, and how to mend that in an observation."""
    if kind == ProblemKind.SHAPE and isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray):
        for form, turn in turns(name, wanted, got):
            yield form, partial(turned, name=name, turn=turn)
    if kind == ProblemKind.RETURN:
        for form, unpack in unpackings(wanted, got):
            yield form, partial(unpacked, name=name, unpack=unpack)


def _judged_again(
    exercise: Exercise,
    judged: Judged,
    change: Callable[[Observation | None, Observation], Observation | None],
) -> Judged:
    case = judged.result.case
    seen = change(judged.seen, expected_of(exercise, case))
    finding = judge_case(exercise, case, seen)
    of_values = finding is not None and finding.kind not in (
        ProblemKind.GRADIENT,
        ProblemKind.BACKWARD,
    )
    return Judged(CaseResult(case, finding if of_values else None), seen)


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
