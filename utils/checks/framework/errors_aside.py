"""Name a mistake by the numbers of an answer that stops with an error in other cases.

Where sizes do not fit, the error depends on how a mistake is written: another line meets other
sizes, in other words. Where they happen to fit, its numbers do not.
"""

from collections.abc import Sequence

from utils.checks.framework.agreeing import Judged, agrees_with, is_ruled_out
from utils.checks.framework.exercise import Exercise, Mistake
from utils.checks.framework.expected import results_of
from utils.checks.framework.observation import Observation, ProblemKind


def best_by_numbers(
    exercise: Exercise, relevant: Sequence[Judged], shown: Judged
) -> Mistake | None:
    """Return the mistake that fails where an answer fails, and else gives what the answer gives.

    Args:
        exercise: has the bank of known mistakes.
        relevant: the cases in which a cause is sought.
        shown: the failing case that the student sees.

    """
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
