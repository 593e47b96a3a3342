"""Name the known mistake behind a wrong answer, however the answer is written.

A mistake is a wrong variant of the right answer. The one that was made gives the same results as
the answer in every case, but for what a further fault or a missed demand changes.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from utils.checks.framework.agreeing import (
    BACKWARD,
    LOOSE,
    Judged,
    agrees_in,
    agrees_with,
    entries_alike,
    is_ruled_out,
    lacks_a_gradient,
    only,
    same_gradients,
    telling,
)
from utils.checks.framework.combining import both
from utils.checks.framework.compare import compare, same_results
from utils.checks.framework.errors_aside import best_by_numbers
from utils.checks.framework.exercise import Case, Exercise, ExerciseKind, Mistake
from utils.checks.framework.expected import expected_of, observed, results_of
from utils.checks.framework.observation import BY_CHANCE, ProblemKind
from utils.checks.framework.prefilter import surely_right
from utils.checks.framework.wrong_cases import is_as_wrong, is_wrong, share_a_size

SEVERAL = 2  # failing cases that a mistake must explain, if there are so many
SEVERAL_OF_PAIRS = 3  # and two at once, which agree by chance more often
MOST_PAIRS = 1000  # of mistakes tried together: a check must answer at once
MOST_OTHERS = 40  # of these, where each mistake changes what the other one does
PREDICTED = 2e-3  # share by which a prediction may differ from what a mistake predicts
RANDOM_TEST = "random_test"  # the mistake that says so
# What is ruled out for answers is open to known mistakes. And where nothing is written, or nothing
# came back, all of them and all their pairs would be tried in vain, which takes half a second.
_NAMELESS = (ProblemKind.FORBIDDEN, ProblemKind.STUB, ProblemKind.MISSING)
Named = tuple[Mistake | None, Mistake | None]


def name_mistakes(exercise: Exercise, judged: Sequence[Judged], shown: Judged) -> Named:
    """Return the mistake that best explains an answer, or two that do so together.

    Args:
        exercise: has the bank of known mistakes.
        judged: all cases.
        shown: the failing case that the student sees.

    """
    if shown.result.finding is not None and shown.result.finding.kind in _NAMELESS:
        return None, None
    if (random := _random_test(exercise, shown)) is not None:
        return random, None
    relevant = _relevant(judged, shown)
    if shown.result.finding is not None and shown.result.finding.kind == ProblemKind.CHANGED:
        exercise = _changing_inputs(exercise, shown.result.case)
    loosely = replace(exercise, tolerance=max(exercise.tolerance, LOOSE))
    several = 1 if exercise.probe.kind == ExerciseKind.TEST_THE_TEST else SEVERAL
    is_guess = exercise.probe.kind == ExerciseKind.PREDICT
    exact = is_guess or _is_backward(shown)  # a lost gradient is no matter of digits
    if is_guess:  # a round guess may lie near a mistake's number by chance
        exercise = replace(exercise, tolerance=min(exercise.tolerance, PREDICTED))
    for strictness in (exercise,) if exact else (exercise, loosely):
        known = _best(strictness, relevant, shown, judged, several)
        if known is not None:
            return known, None
    part = _best_in_part(exercise, relevant, shown) or best_by_numbers(exercise, relevant, shown)
    if part is not None:
        return part, None
    beside = _beside(judged, relevant)
    tolerances = (exercise,) if exact else (exercise, loosely)
    pairs = (_pair(one, relevant, shown, beside) for one in tolerances)
    pair = next((pair for pair in pairs if pair is not None), None)
    if pair is None and is_guess:  # each case is a guess of its own
        return _best(exercise, relevant, shown, judged, 1), None
    return pair or (None, None)


def _is_backward(shown: Judged) -> bool:
    return shown.result.finding is not None and shown.result.finding.kind in BACKWARD


def _random_test(exercise: Exercise, shown: Judged) -> Mistake | None:
    """Return the mistake of a student's test that decides by chance, if this one does."""
    if exercise.probe.kind != ExerciseKind.TEST_THE_TEST or shown.seen is None:
        return None
    if not any(isinstance(v, str) and v == BY_CHANCE for v in shown.seen.values.values()):
        return None
    return next((m for m in exercise.mistakes if m.name == RANDOM_TEST), None)


def _changing_inputs(exercise: Exercise, case: Case) -> Exercise:
    """Return an exercise with those mistakes only that change an input: the others explain none."""
    own = tuple(
        m
        for m in exercise.mistakes
        if m.answer is not None and results_of(exercise, m.name, m.answer, case).changed
    )
    return replace(exercise, mistakes=own)


def _relevant(judged: Sequence[Judged], shown: Judged) -> list[Judged]:
    """Return the cases in which a cause is sought: the idea's, and the demand's that is shown."""
    demands = ("", shown.result.case.demand)
    return [j for j in judged if j.result.case.demand in demands]


def _beside(everything: Sequence[Judged], relevant: Sequence[Judged]) -> list[Judged]:
    """Return the other demands' cases, which decide between causes that are as good."""
    return [judged for judged in everything if not any(judged is one for one in relevant)]


def _best(
    exercise: Exercise,
    relevant: Sequence[Judged],
    shown: Judged,
    everything: Sequence[Judged],
    several: int,
) -> Mistake | None:
    """Return the mistake that agrees most in at least `several` failing cases.

    Ties are broken by the entries of the result shown, by the cases of all demands, by gradients.

    """
    found: list[tuple[tuple[bool, int], Mistake]] = []
    holding = [judged for judged in relevant if judged.holds]
    is_loose = exercise.tolerance >= LOOSE  # what agrees by its first digits must do so where shown
    for mistake in exercise.mistakes:
        if any(is_ruled_out(exercise, mistake, judged) for judged in holding):
            continue  # known without a call of it
        explains = _explains(exercise, mistake, shown) and _differs_as_far(exercise, mistake, shown)
        if not explains and (is_loose or not _may_explain(exercise, mistake, shown)):
            continue
        if _misses_alike(exercise, mistake, shown):
            asked = relevant if explains else [j for j in relevant if not lacks_a_gradient(j)]
            agrees = _where_it_agrees(exercise, mistake, asked, several)
            if agrees:
                found.append(((explains, sum(agrees)), mistake))
    most = max((rank for rank, _ in found), default=None)
    best = [mistake for rank, mistake in found if rank == most]
    beside = _beside(everything, relevant)
    best = _most(best, lambda m: entries_alike(exercise, m, shown))
    best = _most(best, lambda m: sum(agrees_with(exercise, m, judged) for judged in beside))
    best = _most(best, lambda m: same_gradients(exercise, m, relevant))
    return best[0] if best else None


def _is_loose(exercise: Exercise) -> bool:
    return exercise.tolerance >= LOOSE and exercise.probe.kind != ExerciseKind.PREDICT


def _explains(exercise: Exercise, mistake: Mistake, shown: Judged) -> bool:
    """Return whether a mistake gives the result shown and is itself a fault in that case.

    Where numbers are compared loosely, a variant that is right here would agree with an answer
    that is nearly right.

    """
    if not agrees_with(exercise, mistake, shown):
        return False
    finding = shown.result.finding
    if not _is_loose(exercise) or finding is None or finding.kind != ProblemKind.VALUES:
        return True
    return is_wrong(exercise, mistake, shown.result.case)


def _most(mistakes: list[Mistake], count: Callable[[Mistake], int]) -> list[Mistake]:
    """Return those that count most; where there is but one, nothing is counted."""
    if len(mistakes) < SEVERAL:
        return mistakes
    counts = [count(mistake) for mistake in mistakes]
    return [m for m, number in zip(mistakes, counts, strict=True) if number == max(counts)]


def _where_it_agrees(
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
    if explained < len(others) and _is_loose(exercise) and exercise.facts is None:
        return []  # by its first digits a number agrees in some cases by chance
    own = [j.result.case for j in failing if j.result.case not in others]
    by_chance = exercise.facts is None and share_a_size(own, others)
    return agrees if not by_chance and is_as_wrong(exercise, mistake, others) else []


def _is_right_too(exercise: Exercise, mistake: Mistake, judged: Judged) -> bool:
    """Return whether a mistake agrees with an answer in a case that the answer passes."""
    if judged.result.passed and surely_right(exercise, mistake, judged.result.case):
        return True
    return agrees_with(exercise, mistake, judged)


def _misses_alike(exercise: Exercise, mistake: Mistake, shown: Judged) -> bool:
    """Return whether a mistake misses what the answer misses, if its numbers are right."""
    finding, case = shown.result.finding, shown.result.case
    if finding is None or not finding.demand or mistake.answer is None:
        return True
    variant = observed(exercise, mistake.name, mistake.answer, case)
    own = compare(expected_of(exercise, case), variant, exercise.tolerance, {})
    return own is not None and own.demand == finding.demand


def _best_in_part(exercise: Exercise, relevant: Sequence[Judged], shown: Judged) -> Mistake | None:
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


def _differs_as_far(exercise: Exercise, mistake: Mistake, shown: Judged) -> bool:
    """Return whether a mistake that agrees loosely is not loosely right as well."""
    finding, case = shown.result.finding, shown.result.case
    if finding is None or finding.kind != ProblemKind.VALUES or finding.demand or not finding.where:
        return True  # where a law is broken, the numbers may be as right as can be told
    variant = results_of(exercise, mistake.name, mistake.answer, case)
    return not same_results(variant, expected_of(exercise, case), exercise.tolerance)


def _may_explain(exercise: Exercise, mistake: Mistake, shown: Judged) -> bool:
    """Return whether a mistake is at work in the case shown, where something else is too.

    An exception or a wrong shape must be explained itself: only numbers mix.

    """
    finding = shown.result.finding
    if finding is None or finding.kind != ProblemKind.VALUES or mistake.answer is None:
        return False
    return is_wrong(exercise, mistake, shown.result.case)


def _pair(
    exercise: Exercise, relevant: Sequence[Judged], shown: Judged, beside: Sequence[Judged]
) -> Named | None:
    """Return the two mistakes that best explain an answer only together.

    Two faults together are wrong where either is, so only those are tried. Some cases may hold a
    third one, but then several must agree to the last digit.

    """
    failing = frozenset(n for n, judged in enumerate(relevant) if not judged.holds)
    wrong = {m.name: _wrong_in(exercise, m, relevant) for m in exercise.mistakes}
    able = [mistake for mistake in exercise.mistakes if wrong[mistake.name] <= failing]
    agrees_at = functools.cache(lambda mistake, n: agrees_with(exercise, mistake, relevant[n]))
    others: list[tuple[Mistake, Mistake]] = []  # filled while the first are tried

    def fitting() -> Iterator[tuple[Mistake, Mistake]]:
        for one, other in itertools.combinations(able, 2):
            if wrong[one.name] | wrong[other.name] == failing:
                if _fit_alone(agrees_at, wrong, one, other):
                    yield one, other
                else:
                    others.append((one, other))

    first, rest = _together(fitting()), _together(others)
    tried = itertools.islice(first, MOST_PAIRS), itertools.islice(rest, MOST_OTHERS)
    several = len(relevant) if exercise.tolerance >= LOOSE or exercise.facts else SEVERAL_OF_PAIRS
    best: tuple[tuple[bool, int], Named] | None = None
    for one, other, answer in itertools.chain(*tried):
        pair = Mistake(f"{one.name} + {other.name}", "", "", answer)
        if not (agrees_with(exercise, pair, shown) and _differs_as_far(exercise, pair, shown)):
            continue
        agrees = _where_it_agrees(exercise, pair, relevant, several)
        if any(_hides(exercise, *order, shown) for order in ((one, other), (other, one))):
            continue
        rank = all(agrees), sum(agrees_with(exercise, pair, judged) for judged in beside)
        if agrees and (best is None or rank > best[0]):
            best = rank, (one, other)
        if best is not None and best[0] == (True, len(beside)):
            break
    return None if best is None else best[1]


def _together(
    pairs: Iterable[tuple[Mistake, Mistake]],
) -> Iterator[tuple[Mistake, Mistake, Any]]:
    """Yield the pairs that can be made at once, with what makes both."""
    for one, other in pairs:
        if (answer := both(one.answer, other.answer)) is not None:
            yield one, other, answer


def _hides(exercise: Exercise, one: Mistake, other: Mistake, shown: Judged) -> bool:
    """Return whether one mistake alone gives what is shown, so that another one leaves no trace."""
    return agrees_with(exercise, one, shown) and is_wrong(exercise, other, shown.result.case)


def _fit_alone(
    agrees_at: Callable[[Mistake, int], bool],
    wrong: Mapping[str, frozenset[int]],
    one: Mistake,
    other: Mistake,
) -> bool:
    """Return whether each of two mistakes agrees where it alone is wrong."""
    return all(
        agrees_at(mistake, n)
        for mistake, beside in ((one, other), (other, one))
        for n in wrong[mistake.name] - wrong[beside.name]
    )


def _wrong_in(exercise: Exercise, mistake: Mistake, relevant: Sequence[Judged]) -> frozenset[int]:
    """Return the places of the cases in which a mistake gives wrong results."""
    if mistake.answer is None:
        return frozenset()
    return frozenset(
        n for n, judged in enumerate(relevant) if is_wrong(exercise, mistake, judged.result.case)
    )
