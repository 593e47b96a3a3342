"""Ask in which cases a known mistake gives what an answer gives."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from utils.checks.compare.closeness import close
from utils.checks.compare.compare import PREDICTION, same, same_results
from utils.checks.compare.rounded import is_rounded
from utils.checks.exercise import Exercise, ExerciseKind, Mistake
from utils.checks.explain.known.prefilter import surely_differs
from utils.checks.observation import Observation, ProblemKind
from utils.checks.observe.expected import expected_of, observed, results_of
from utils.checks.verdict import CaseResult

LOOSE = 1e-2  # where numbers grow large, two ways to make one mistake differ in their last digits
BACKWARD = (ProblemKind.GRADIENT, ProblemKind.BACKWARD)


@dataclass(frozen=True)
class Judged:
    """A case's result with the observation that it was judged by."""

    result: CaseResult
    seen: Observation | None

    @property
    def holds(self) -> bool:
        """Return whether nothing was found that this case is about."""
        return self.result.idea_holds if self.result.case.is_core else self.result.passed


def agrees_with(exercise: Exercise, mistake: Mistake, judged: Judged) -> bool:
    """Return whether a mistake gives the answer's results in a case."""
    if judged.seen is None or mistake.answer is None or is_ruled_out(exercise, mistake, judged):
        return False
    case, finding = judged.result.case, judged.result.finding
    if finding is not None and finding.kind in BACKWARD:
        whole = observed(exercise, mistake.name, mistake.answer, case)
        return same(whole, judged.seen, exercise.tolerance)
    variant = results_of(exercise, mistake.name, mistake.answer, case)
    if exercise.probe.kind == ExerciseKind.PREDICT:
        seen = (judged.seen, variant, expected_of(exercise, case))
        said, its, right = (one.values.get(PREDICTION) for one in seen)
        if is_rounded(said, right):
            return False  # and what it is rounded from may be another number by chance
        if mistake.message and is_rounded(said, its):  # two at once have none, and meet too much
            return True
    return same_results(variant, judged.seen, exercise.tolerance)


def agrees_in(exercise: Exercise, mistake: Mistake, judged: Judged, name: str) -> bool:
    """Return whether a mistake gives one of the answer's results in a case."""
    if judged.seen is None or (judged.seen.problem is None and not judged.seen.values):
        return judged.seen is not None
    variant = only(results_of(exercise, mistake.name, mistake.answer, judged.result.case), name)
    return variant is not None and same_results(variant, judged.seen, exercise.tolerance)


def only(seen: Observation | None, name: str) -> Observation | None:
    """Return one of an observation's results."""
    if seen is None or seen.problem is not None:
        return seen
    return Observation({k: v for k, v in seen.values.items() if k == name})


def same_gradients(exercise: Exercise, mistake: Mistake, relevant: Sequence[Judged]) -> int:
    """Count the cases in which a mistake's gradients agree too."""
    count = 0
    for judged in relevant:
        if judged.seen is not None and mistake.answer is not None:
            variant = observed(exercise, mistake.name, mistake.answer, judged.result.case)
            count += same(variant, judged.seen, exercise.tolerance)
    return count


def entries_alike(exercise: Exercise, mistake: Mistake, judged: Judged) -> int:
    """Count the entries of arrays in which a mistake and an answer agree."""
    if judged.seen is None or mistake.answer is None:
        return 0
    variant = results_of(exercise, mistake.name, mistake.answer, judged.result.case)
    pairs = [(variant.values.get(name), mine) for name, mine in judged.seen.values.items()]
    return sum(
        int(close(its, mine, exercise.tolerance).sum())
        for its, mine in pairs
        if isinstance(its, np.ndarray) and isinstance(mine, np.ndarray) and its.shape == mine.shape
    )


def telling(failing: Sequence[Judged]) -> Sequence[Judged]:
    """Leave out results that are the number 0, which many mistakes give, unless all are."""
    return [judged for judged in failing if not is_zero(judged)] or failing


def is_zero(judged: Judged) -> bool:
    """Return whether an answer gives the number 0 in a case, and nothing else."""
    values = list(judged.seen.values.values()) if judged.seen is not None else []
    return len(values) == 1 and type(values[0]) in (int, float) and values[0] == 0


def lacks_a_gradient(judged: Judged) -> bool:
    """Return whether an answer's results are right in a case, and their gradient is not."""
    finding = judged.result.finding
    return finding is not None and finding.kind in BACKWARD


def is_ruled_out(exercise: Exercise, mistake: Mistake, judged: Judged) -> bool:
    """Return whether what is known of a mistake shows without a call that it does not agree."""
    loosely = exercise.tolerance >= LOOSE
    return judged.seen is not None and surely_differs(
        exercise, mistake, judged.result.case, judged.seen, loosely=loosely
    )
