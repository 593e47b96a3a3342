"""Name a known mistake by a part of what an answer gives, where the rest is wrong otherwise.

One of several results may be wrong in another way. And where sizes do not fit, the error depends on
how a mistake is written: another line meets other sizes, in other words. Where they happen to fit,
its numbers do not.
"""

from collections.abc import Sequence
from dataclasses import replace

from utils.checks.compare.compare import same_results
from utils.checks.exercise import Exercise, Mistake
from utils.checks.explain.known.agreeing import (
    BACKWARD,
    Judged,
    agrees_in,
    agrees_with,
    is_ruled_out,
    only,
)
from utils.checks.explain.known.search import search_of
from utils.checks.explain.situation import Explanation, Situation, by
from utils.checks.observation import Observation, ProblemKind
from utils.checks.observe.expected import expected_of, results_of


def explain(situation: Situation) -> Explanation | None:
    """Name the mistake that explains one result, or all results of the cases without an error."""
    search = search_of(situation)
    if search is None:
        return None
    asked = search.exercise, search.relevant, search.shown
    return by(_by_one_result(*asked) or _by_numbers(*asked))


def _by_one_result(exercise: Exercise, relevant: Sequence[Judged], shown: Judged) -> Mistake | None:
    """Return a mistake that explains the result that is wrong, if others are wrong otherwise."""
    finding, seen = shown.result.finding, shown.seen
    if finding is None or seen is None or finding.kind in BACKWARD or len(seen.values) < 2:
        return None
    if exercise.facts is not None:
        return None  # a fact has few values, so that many mistakes share one
    where = finding.where.partition("[")[0]  # of a list or a dictionary, the whole
    if where not in seen.values:
        return None
    parts = [replace(j, seen=only(j.seen, where)) for j in relevant]
    for mistake in exercise.mistakes:
        if (
            mistake.answer is not None
            and all(agrees_in(exercise, mistake, judged, where) for judged in parts)
            and _spares(exercise, mistake, shown)
        ):
            return mistake
    return None


def _spares(exercise: Exercise, mistake: Mistake, shown: Judged) -> bool:
    """Return whether a mistake gets right what the answer has right in the case shown."""
    case = shown.result.case
    right = expected_of(exercise, case)
    variant = results_of(exercise, mistake.name, mistake.answer, case)
    for name in right.values:
        wanted = only(right, name)
        mine, its = only(shown.seen, name), only(variant, name)
        if wanted is None or mine is None or its is None:
            return False
        if same_results(mine, wanted, exercise.tolerance) and not same_results(
            its, wanted, exercise.tolerance
        ):
            return False
    return True


def _by_numbers(exercise: Exercise, relevant: Sequence[Judged], shown: Judged) -> Mistake | None:
    """Return the mistake that fails where an answer fails, and else gives what the answer gives."""
    if not _is_stopped(shown.seen):
        return None
    stopped = [judged for judged in relevant if _is_stopped(judged.seen)]
    others = [judged for judged in relevant if not _is_stopped(judged.seen)]
    if all(judged.holds for judged in others):
        return None
    return next((m for m in exercise.mistakes if _is_meant(exercise, m, stopped, others)), None)


def _is_meant(
    exercise: Exercise, mistake: Mistake, stopped: Sequence[Judged], others: Sequence[Judged]
) -> bool:
    if mistake.answer is None or any(is_ruled_out(exercise, mistake, one) for one in others):
        return False
    return all(agrees_with(exercise, mistake, one) for one in others) and all(
        _is_stopped(results_of(exercise, mistake.name, mistake.answer, one.result.case))
        for one in stopped
    )


def _is_stopped(seen: Observation | None) -> bool:
    """Return whether an error stopped an answer that did not raise it in words of its own."""
    problem = seen.problem if seen is not None else None
    return problem is not None and problem.kind == ProblemKind.EXCEPTION and not problem.is_raised
