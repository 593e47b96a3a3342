"""Name two known mistakes that explain a wrong answer only together."""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from utils.checks.combining import both, made
from utils.checks.exercise import Exercise, Mistake
from utils.checks.explain.known.agreeing import LOOSE, Judged, agrees_with
from utils.checks.explain.known.search import Search, differs_as_far, search_of, where_it_agrees
from utils.checks.explain.known.wrong_cases import is_wrong
from utils.checks.explain.situation import Explanation, Situation

SEVERAL_OF_PAIRS = 3  # failing cases that must agree: two at once agree by chance more often
MOST_PAIRS = 1000  # of mistakes tried together: a check must answer at once
MOST_OTHERS = 40  # of these, where each mistake changes what the other one does
Named = tuple[Mistake, Mistake]


def explain(situation: Situation) -> Explanation | None:
    """Name the two mistakes that best explain an answer."""
    search = search_of(situation)
    if search is None:
        return None
    tried = (_pair(exercise, search) for exercise in search.strictness)
    found = next((pair for pair in tried if pair is not None), None)
    return None if found is None else Explanation(*found)


def _pair(exercise: Exercise, search: Search) -> Named | None:
    """Return the two mistakes that best explain an answer only together.

    Two faults together are wrong where either is, so only those are tried. Some cases may hold a
    third one, but then several must agree to the last digit.

    """
    relevant, beside, shown = search.relevant, search.beside, search.shown
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
        if not (agrees_with(exercise, pair, shown) and differs_as_far(exercise, pair, shown)):
            continue
        agrees = where_it_agrees(exercise, pair, relevant, several)
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
        answer = both(one.answer, other.answer)
        if answer is not None and _is_code(answer):
            yield one, other, answer


def _is_code(answer: Any) -> bool:
    """Return whether it can be made: a bracket that two patches share opens for one of them."""
    try:
        made(answer)
    except SyntaxError:
        return False
    return True


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
