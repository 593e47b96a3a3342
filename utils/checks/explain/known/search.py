"""Search the bank of known mistakes for those that give what an answer gives.

A mistake is a wrong variant of the right answer. The one that was made gives the same results as
the answer in every case, but for what a further fault or a missed demand changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from utils.checks.compare.compare import same_results
from utils.checks.exercise import Case, Exercise, ExerciseKind, Mistake
from utils.checks.explain.known.agreeing import (
    BACKWARD,
    LOOSE,
    Judged,
    agrees_with,
    telling,
)
from utils.checks.explain.known.prefilter import surely_right
from utils.checks.explain.known.wrong_cases import is_as_wrong, is_wrong, share_a_size
from utils.checks.explain.situation import Situation
from utils.checks.observation import ProblemKind
from utils.checks.observe.expected import expected_of, results_of

PREDICTED = 2e-3  # share by which a prediction may differ from what a mistake predicts
# What is ruled out for answers is open to known mistakes. And where nothing is written, or nothing
# came back, all of them and all their pairs would be tried in vain, which takes half a second.
_NAMELESS = (ProblemKind.FORBIDDEN, ProblemKind.STUB, ProblemKind.MISSING)


@dataclass(frozen=True)
class Search:
    """Where a known mistake is sought.

    Attributes:
        strictness: the exercise as it compares numbers and, if these may differ in their last
            digits, as it compares them loosely; with those mistakes only that can be meant.
        relevant: the cases in which a cause is sought: the idea's, and the demand's that is shown.
        beside: the other demands' cases, which decide between causes that are as good.
        shown: the failing case that must be explained.

    """

    strictness: tuple[Exercise, ...]
    relevant: Sequence[Judged]
    beside: Sequence[Judged]
    shown: Judged

    @property
    def exercise(self) -> Exercise:
        """Return the exercise as it compares numbers."""
        return self.strictness[0]


def search_of(situation: Situation) -> Search | None:
    """Return where known mistakes are sought, if they can explain what is seen."""
    exercise, shown = situation.exercise, situation.telling
    if shown is None and any(j.result.case.is_core and j.holds for j in situation.judged):
        shown = situation.shown  # the places of NaN tell
    if shown is None or (shown.result.finding and shown.result.finding.kind in _NAMELESS):
        return None
    demands = ("", shown.result.case.demand)
    relevant = [j for j in situation.judged if j.result.case.demand in demands]
    beside = [j for j in situation.judged if j.result.case.demand not in demands]
    if shown.result.finding is not None and shown.result.finding.kind == ProblemKind.CHANGED:
        exercise = _changing_inputs(exercise, shown.result.case)
    if exercise.probe.kind == ExerciseKind.PREDICT:  # a round guess may be near a mistake's number
        exact = replace(exercise, tolerance=min(exercise.tolerance, PREDICTED))
        return Search((exact,), relevant, beside, shown)
    loosely = replace(exercise, tolerance=max(exercise.tolerance, LOOSE))
    # A lost gradient is no matter of digits.
    strictness = (exercise,) if _is_backward(shown) else (exercise, loosely)
    return Search(strictness, relevant, beside, shown)


def _is_backward(shown: Judged) -> bool:
    return shown.result.finding is not None and shown.result.finding.kind in BACKWARD


def _changing_inputs(exercise: Exercise, case: Case) -> Exercise:
    """Return an exercise with those mistakes only that change an input: the others explain none."""
    own = tuple(
        m
        for m in exercise.mistakes
        if m.answer is not None and results_of(exercise, m.name, m.answer, case).changed
    )
    return replace(exercise, mistakes=own, of_parts=tuple)


def is_loose(exercise: Exercise) -> bool:
    """Return whether an exercise compares the first digits of numbers alone."""
    return exercise.tolerance >= LOOSE and exercise.probe.kind != ExerciseKind.PREDICT


def where_it_agrees(
    exercise: Exercise, mistake: Mistake, relevant: Sequence[Judged], several: int
) -> list[bool]:
    """Return in which cases a mistake agrees with an answer, or nothing if it cannot be meant.

    It must be right where the answer is right, and explain several failing cases: in a single one
    different mistakes look alike, and in those where a number is 0. Cases that the answer passes
    are the quickest to rule it out. If it explains no more than half of the failing ones, or facts
    are all that is known, it must be wrong in the others as well, and these must not be told from
    the rest by a size alone.

    """
    if not all(_is_right_too(exercise, mistake, judged) for judged in relevant if judged.holds):
        return []
    agrees = [judged.holds or agrees_with(exercise, mistake, judged) for judged in relevant]
    failing = telling([judged for judged in relevant if not judged.holds])
    explains = {id(judged): agreed for judged, agreed in zip(relevant, agrees, strict=True)}
    others = [judged.result.case for judged in failing if not explains[id(judged)]]
    explained = len(failing) - len(others)
    if explained < min(several, len(failing)):
        return []
    if explained > len(others) and exercise.facts is None:
        return agrees
    if explained < len(others) and is_loose(exercise) and exercise.facts is None:
        return []  # by its first digits a number agrees in some cases by chance
    own = [j.result.case for j in failing if j.result.case not in others]
    by_chance = exercise.facts is None and share_a_size(own, others)
    return agrees if not by_chance and is_as_wrong(exercise, mistake, others) else []


def _is_right_too(exercise: Exercise, mistake: Mistake, judged: Judged) -> bool:
    """Return whether a mistake agrees with an answer in a case that the answer passes."""
    if judged.result.passed and surely_right(exercise, mistake, judged.result.case):
        return True
    return agrees_with(exercise, mistake, judged)


def differs_as_far(exercise: Exercise, mistake: Mistake, shown: Judged) -> bool:
    """Return whether a mistake that agrees loosely is not loosely right as well."""
    finding, case = shown.result.finding, shown.result.case
    if finding is None or finding.kind != ProblemKind.VALUES or finding.demand or not finding.where:
        return True  # where a law is broken, the numbers may be as right as can be told
    variant = results_of(exercise, mistake.name, mistake.answer, case)
    return not same_results(variant, expected_of(exercise, case), exercise.tolerance)


def explains(exercise: Exercise, mistake: Mistake, shown: Judged) -> bool:
    """Return whether a mistake gives the result shown and is itself a fault in that case.

    Where numbers are compared loosely, a variant that is right here would agree with an answer
    that is nearly right.

    """
    if not agrees_with(exercise, mistake, shown) or not differs_as_far(exercise, mistake, shown):
        return False
    finding = shown.result.finding
    if not is_loose(exercise) or finding is None or finding.kind != ProblemKind.VALUES:
        return True
    return is_wrong(exercise, mistake, shown.result.case)
