"""Compare observations with the oracle's, explain the first difference, name the mistake."""

from collections.abc import Sequence
from typing import Any

from utils.checks.compare import Finding, compare, same
from utils.checks.exercise import Case, Exercise, Mistake
from utils.checks.observation import Observation
from utils.checks.observe import observe
from utils.checks.verdict import CaseResult, Verdict

# Mistakes that show in what kind of difference was found, whatever the exercise.
GENERAL = {
    "changed": Mistake(
        "changes_its_input",
        "Your code writes into a tensor that belongs to the caller.",
        "Names that end in an underscore (masked_fill_) and assignments like x[...] = ... work in "
        "place. Use the form that returns a new tensor.",
    ),
    "dtype": Mistake(
        "changes_the_dtype",
        "The result has another number type than the inputs.",
        "A tensor made without dtype= is float32, and .float() makes one. Take the dtype of the "
        "input instead.",
    ),
    "gradient": Mistake(
        "cuts_the_gradient",
        "Something on the way from this input to the result stops the gradient.",
        "Look for detach(), .data, .item(), numpy, torch.no_grad or a tensor rebuilt by "
        "torch.tensor(...).",
    ),
    "backward": Mistake(
        "breaks_backward",
        "Training would stop here: backward() cannot go through your code.",
        "In-place operations on tensors that backward needs are the usual cause.",
    ),
    "nothing": Mistake(
        "returns_nothing",
        "Your code ran to its end and returned nothing.",
        "Is there a `return`, and is it reached?",
    ),
}


def judge(
    exercise: Exercise,
    cases: Sequence[Case],
    observations: Sequence[Observation | None],
    points: float | None = None,
) -> Verdict:
    """Judge an answer by its observations.

    Args:
        exercise: probe, oracle and mistakes.
        cases: what was asked, in order.
        observations: what came back for each case; None where nothing did.
        points: the exercise's points, where it is graded.
    """
    pairs = list(zip(cases, observations, strict=True))
    results = tuple(CaseResult(c, judge_case(exercise, c, seen)) for c, seen in pairs)
    mistake = name_mistake(exercise, pairs, results)
    halved = exercise.probe.kind != "test the test"
    return Verdict(exercise.id, results, mistake, points, halved)


def judge_case(exercise: Exercise, case: Case, seen: Observation | None) -> Finding | None:
    """Find what is wrong with one observation; None where all is well."""
    if seen is None:
        return Finding("missing", "", "Nothing was observed for this case.")
    expected = _observe_own(exercise, "", exercise.oracle, case)
    if expected.problem is not None and expected.problem.kind != "backward":
        raise RuntimeError(f"the oracle of {exercise.id} fails: {expected.problem.message}")
    finding = compare(expected, seen, exercise.tolerance, case.params)
    return finding or _broken_law(exercise, case, seen)


def _broken_law(exercise: Exercise, case: Case, seen: Observation) -> Finding | None:
    inputs = exercise.probe.inputs(**case.params)
    for law in exercise.invariants:
        if not law.holds(inputs, seen):
            return Finding("values", "", law.says)
    return None


def name_mistake(
    exercise: Exercise,
    pairs: Sequence[tuple[Case, Observation | None]],
    results: Sequence[CaseResult],
) -> Mistake | None:
    """The known mistake that gives what was seen on the first failing case that any explains.

    Of several that do, the one that agrees with most of the other cases: a mistake that shows
    only with a mask looks like the right answer elsewhere. Where none explains the first failing
    case, it may be one in which the last digit decides; a later one can tell.
    """
    failing = [i for i, result in enumerate(results) if not result.passed]
    general = _general_mistake(results[failing[0]].finding) if failing else None
    for pair in [pairs[i] for i in (failing[:1] if general else failing)]:
        fitting = [m for m in exercise.mistakes if _explains(exercise, m, pair)]
        if fitting:
            return max(fitting, key=lambda m: sum(_explains(exercise, m, pair) for pair in pairs))
    return general


def _explains(exercise: Exercise, mistake: Mistake, pair: tuple[Case, Observation | None]) -> bool:
    case, seen = pair
    if seen is None or mistake.answer is None:
        return False
    variant = _observe_own(exercise, mistake.name, mistake.answer, case)
    return same(variant, seen, exercise.tolerance)


_OWN: dict[tuple[str, str, str], Observation] = {}
_MOST_KEPT = 10_000


def _observe_own(exercise: Exercise, name: str, answer: Any, case: Case) -> Observation:
    """Observe an oracle or a known mistake; the next submission finds the result here."""
    key = (exercise.id, name, repr(sorted(case.params.items())))
    if key not in _OWN:
        if len(_OWN) >= _MOST_KEPT:
            _OWN.clear()
        _OWN[key] = observe(exercise.probe, case, answer, trusted=True)
    return _OWN[key]


def _general_mistake(finding: Finding | None) -> Mistake | None:
    return GENERAL.get(finding.kind) if finding is not None else None
