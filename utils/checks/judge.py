"""Compare observations with the oracle's, explain the first difference, name the mistake."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from utils.checks.compare import Finding, close, compare, same
from utils.checks.exercise import Case, Exercise, Mistake
from utils.checks.observation import Observation, Plain, Problem
from utils.checks.observe import observe
from utils.checks.verdict import CaseResult, Verdict

Pair = tuple[Case, Observation | None]
SEVERAL = 2  # failing cases that a mistake must explain to be named, where there are so many

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
        "The result has another number type than it should.",
        "Compare the two dtypes above. A tensor that you make yourself gets the one that you give "
        "it (dtype=...): the input's, where there is an input.",
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

_CUT = Mistake(
    "cuts_the_gradient",
    "Something on the way from this input to the result stops the gradient.",
    "Look for detach(), .data, .item(), numpy, torch.no_grad or a tensor rebuilt by "
    "torch.tensor(...).",
)
_NAN = Mistake(
    "gradient_is_nan",
    "The result is right, but on the way back there is a NaN: one training step would spread it.",
    "A NaN or an infinity on the way still meets the gradient, even where the result no longer "
    "shows it. Keep it from coming up, rather than taking it out afterwards.",
)
_IN_PART = Mistake(
    "gradient_in_part",
    "The result is right, but only a part of its gradient comes back, or another one.",
    "Where a value goes two ways, both must carry gradient: look for detach(), .data, .item(), "
    "numpy or torch.no_grad on one of them.",
)


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
    pairs = [(c, _told(exercise, c, seen)) for c, seen in zip(cases, observations, strict=True)]
    results = tuple(CaseResult(c, judge_case(exercise, c, seen)) for c, seen in pairs)
    mistake = name_mistake(exercise, pairs, results)
    halved = exercise.probe.kind != "test the test"
    return Verdict(exercise.id, results, mistake, points, halved)


def _told(exercise: Exercise, case: Case, seen: Observation | None) -> Observation | None:
    """An observation with the facts about its values in their place, where facts are compared."""
    if exercise.facts is None or seen is None or seen.problem is not None:
        return seen
    try:
        values = exercise.facts(exercise.probe.inputs(**case.params), seen.values)
    except (KeyError, ValueError):
        return Observation(problem=Problem("return", "What came back is not what was asked for."))
    return replace(seen, values=values)


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
    pairs: Sequence[Pair],
    results: Sequence[CaseResult],
) -> Mistake | None:
    """The known mistake that best explains what was seen; None where none does.

    The first failing case is the one that is shown, so those that explain it come first. What it
    says of itself (an exception, a shape) must be explained. Where numbers differ, the last digit
    may decide in that case, and a later one can tell.
    """
    first = next((i for i, result in enumerate(results) if not result.passed), None)
    if first is None:
        return None
    shown = results[first].finding
    explained = [m for m in exercise.mistakes if _explains(exercise, m, pairs[first])]
    found = _most_alike(exercise, explained, pairs, results)
    if found is None and shown is not None and shown.kind in {"values", "gradient"}:
        others = [m for m in exercise.mistakes if m not in explained]
        found = _most_alike(exercise, others, pairs, results)
    return found or _general(exercise, pairs[first], shown)


def _general(exercise: Exercise, pair: Pair, shown: Finding | None) -> Mistake | None:
    """What the kind of the difference tells, whatever the exercise."""
    case, seen = pair
    if shown is None or seen is None:
        return None
    expected = _observe_own(exercise, "", exercise.oracle, case)
    if shown.kind == "gradient":
        name = shown.where.removeprefix("gradient of ")
        wanted, got = expected.gradients.get(name), seen.gradients.get(name)
        return _of_gradient(wanted, got, exercise.tolerance)
    # Numbers are compared first, and one that was written over may be why they differ.
    if shown.kind == "values" and set(seen.changed) - set(expected.changed):
        return GENERAL["changed"]
    return GENERAL.get(shown.kind)


def _of_gradient(wanted: Plain, got: Plain, tolerance: float) -> Mistake | None:
    """A gradient is stopped where it is missing, or zero where it should not be."""
    if not isinstance(got, np.ndarray):
        return _CUT
    if not isinstance(wanted, np.ndarray):
        return None
    if (wanted.shape, wanted.dtype) != (got.shape, got.dtype):
        return None
    if np.isnan(got).any():
        return _NAN
    arrives = np.where(got == 0, wanted, got)
    return _CUT if close(wanted, arrives, 10 * tolerance).all() else _IN_PART


def _most_alike(
    exercise: Exercise,
    mistakes: Sequence[Mistake],
    pairs: Sequence[Pair],
    results: Sequence[CaseResult],
) -> Mistake | None:
    """Of the mistakes that can be meant, the one that agrees with the answer in most cases."""
    best, most = None, 0
    for mistake in mistakes:
        agrees = [_explains(exercise, mistake, pair) for pair in pairs]
        if sum(agrees) > most and _can_be_meant(agrees, results):
            best, most = mistake, sum(agrees)
    return best


def _can_be_meant(agrees: Sequence[bool], results: Sequence[CaseResult]) -> bool:
    """Whether a mistake that agrees so with an answer may be the one that was made.

    It must be right where the answer is right, and explain several of the failing cases, or half:
    on a single one different mistakes look alike, and in others there may be a second mistake.
    """
    passing = [agreed for agreed, result in zip(agrees, results, strict=True) if result.passed]
    failing = [agreed for agreed, result in zip(agrees, results, strict=True) if not result.passed]
    return all(passing) and sum(failing) >= min(SEVERAL, len(failing) / 2)


def _explains(exercise: Exercise, mistake: Mistake, pair: Pair) -> bool:
    case, seen = pair
    if seen is None or mistake.answer is None:
        return False
    variant = _observe_own(exercise, mistake.name, mistake.answer, case)
    if seen.problem is not None and seen.problem.kind == "backward":
        return _explains_forward(exercise, variant, pair)
    return same(variant, seen, exercise.tolerance)


def _explains_forward(exercise: Exercise, variant: Observation, pair: Pair) -> bool:
    """Whether a variant gives the same results as an answer that backward fails on.

    Where the results are right, backward is what is wrong, and must fail in the variant too.
    """
    case, seen = pair
    if seen is None or (variant.problem is not None and variant.problem.kind != "backward"):
        return False
    one, other = (replace(o, gradients={}, problem=None) for o in (variant, seen))
    expected = _observe_own(exercise, "", exercise.oracle, case)
    right = compare(replace(expected, gradients={}), other, exercise.tolerance, {}) is None
    alike = same(one, other, exercise.tolerance)
    return alike and (not right or same(variant, seen, exercise.tolerance))


_OWN: dict[tuple[str, str, str], Observation] = {}
_MOST_KEPT = 10_000


def _observe_own(exercise: Exercise, name: str, answer: Any, case: Case) -> Observation:
    """Observe an oracle or a known mistake; the next submission finds the result here."""
    key = (exercise.id, name, repr(sorted(case.params.items())))
    if key not in _OWN:
        if len(_OWN) >= _MOST_KEPT:
            _OWN.clear()
        seen = observe(exercise.probe, case, answer, trusted=True)
        _OWN[key] = _told(exercise, case, seen) or seen
    return _OWN[key]
