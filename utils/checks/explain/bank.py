"""Name the known mistake behind a wrong answer, however the answer is written."""

from collections.abc import Callable

from utils.checks.compare.compare import compare
from utils.checks.exercise import Exercise, ExerciseKind, Mistake
from utils.checks.explain.known.agreeing import (
    LOOSE,
    Judged,
    agrees_with,
    entries_alike,
    is_ruled_out,
    lacks_a_gradient,
    same_gradients,
)
from utils.checks.explain.known.search import (
    Search,
    explains,
    search_of,
    where_it_agrees,
)
from utils.checks.explain.known.wrong_cases import is_wrong
from utils.checks.explain.seen.silent_tests import RANDOM_TEST, with_reasons
from utils.checks.explain.situation import Explanation, Situation, by
from utils.checks.observation import BY_CHANCE, ProblemKind
from utils.checks.observe.expected import expected_of, observed

SEVERAL = 2  # failing cases that a mistake must explain, if there are so many


def explain(situation: Situation) -> Explanation | None:
    """Name the known mistake that best explains an answer."""
    search = search_of(situation)
    if search is None:
        return None
    kind = situation.exercise.probe.kind
    several = [1 if kind == ExerciseKind.TEST_THE_TEST else SEVERAL]
    if kind == ExerciseKind.PREDICT:
        several.append(1)  # each case is a guess of its own
    tried = (_best(one, search, many) for many in several for one in search.strictness)
    found = _random_test(search) or next((one for one in tried if one is not None), None)
    if found is None or not _is_everywhere(found, search):
        found = _of_parts(search) or found
    return by(with_reasons(found, situation.reasons))


def _is_everywhere(mistake: Mistake, search: Search) -> bool:
    """Return whether a mistake explains every failing case."""
    failing = [judged for judged in search.relevant if not judged.holds]
    return all(agrees_with(search.strictness[-1], mistake, judged) for judged in failing)


def _of_parts(search: Search) -> Mistake | None:
    """Return the mistake of a function that the right answer calls, if it explains every case."""
    return next(
        (
            mistake
            for exercise in search.strictness
            for mistake in exercise.of_parts()
            if explains(exercise, mistake, search.shown)
            and where_it_agrees(exercise, mistake, search.relevant, SEVERAL)
            and _is_everywhere(mistake, search)
        ),
        None,
    )


def _random_test(search: Search) -> Mistake | None:
    """Return the mistake of a student's test that decides by chance, if this one does."""
    exercise, seen = search.exercise, search.shown.seen
    if exercise.probe.kind != ExerciseKind.TEST_THE_TEST or seen is None:
        return None
    if not any(isinstance(v, str) and v == BY_CHANCE for v in seen.values.values()):
        return None
    return next((m for m in exercise.mistakes if m.name == RANDOM_TEST), None)


def _best(exercise: Exercise, search: Search, several: int) -> Mistake | None:
    """Return the mistake that agrees most in at least `several` failing cases.

    Ties are broken by the entries of the result shown, by the cases of all demands, by gradients.

    """
    relevant, shown = search.relevant, search.shown
    found: list[tuple[tuple[bool, int], Mistake]] = []
    holding = [judged for judged in relevant if judged.holds]
    by_first_digits = (
        exercise.tolerance >= LOOSE
    )  # what agrees by its first digits must do so where shown
    for mistake in exercise.mistakes:
        if any(is_ruled_out(exercise, mistake, judged) for judged in holding):
            continue  # known without a call of it
        wholly = explains(exercise, mistake, shown)
        if not wholly and (by_first_digits or not _may_explain(exercise, mistake, shown)):
            continue
        if _misses_alike(exercise, mistake, shown):
            asked = relevant if wholly else [j for j in relevant if not lacks_a_gradient(j)]
            agrees = where_it_agrees(exercise, mistake, asked, several)
            if agrees:
                found.append(((wholly, sum(agrees)), mistake))
    most = max((rank for rank, _ in found), default=None)
    best = [mistake for rank, mistake in found if rank == most]
    best = _most(best, lambda m: entries_alike(exercise, m, shown))
    best = _most(best, lambda m: sum(agrees_with(exercise, m, judged) for judged in search.beside))
    best = _most(best, lambda m: same_gradients(exercise, m, relevant))
    return best[0] if best else None


def _may_explain(exercise: Exercise, mistake: Mistake, shown: Judged) -> bool:
    """Return whether a mistake is at work in the case shown, where something else is too.

    An exception or a wrong shape must be explained itself: only numbers mix.

    """
    finding = shown.result.finding
    if finding is None or finding.kind != ProblemKind.VALUES or mistake.answer is None:
        return False
    return is_wrong(exercise, mistake, shown.result.case)


def _misses_alike(exercise: Exercise, mistake: Mistake, shown: Judged) -> bool:
    """Return whether a mistake misses what the answer misses, if its numbers are right."""
    finding, case = shown.result.finding, shown.result.case
    if finding is None or not finding.demand or mistake.answer is None:
        return True
    variant = observed(exercise, mistake.name, mistake.answer, case)
    own = compare(expected_of(exercise, case), variant, exercise.tolerance, {})
    return own is not None and own.demand == finding.demand


def _most(mistakes: list[Mistake], count: Callable[[Mistake], int]) -> list[Mistake]:
    """Return those that count most; where there is but one, nothing is counted."""
    if len(mistakes) < SEVERAL:
        return mistakes
    counts = [count(mistake) for mistake in mistakes]
    return [m for m, number in zip(mistakes, counts, strict=True) if number == max(counts)]
