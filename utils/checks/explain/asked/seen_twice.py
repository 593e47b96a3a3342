"""Say of a result what a few numbers may show by chance, only where it shows twice."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from utils.checks.compare.compare import same_results
from utils.checks.exercise import Case
from utils.checks.explain.known.agreeing import only
from utils.checks.explain.situation import Situation
from utils.checks.observation import Observation
from utils.checks.observe.expected import expected_of, with_facts
from utils.checks.variation import VARIATION

Says: TypeAlias = Callable[[object, object, Mapping[str, Any]], Iterator[str]]


def seen_twice(situation: Situation, says: Says) -> Iterator[str]:
    """Yield what is true of the case shown and of all others in which the same result is wrong.

    There must be one. In a notebook, the case shown with other numbers is one.

    Args:
        situation: an answer that failed a case.
        says: the right result, the answer's and the case's sizes -> sentences.

    """
    shown, finding = situation.shown, situation.shown.result.finding
    if finding is None or shown.seen is None:
        return
    whole, where, exercise = finding.where.partition("[")[0], finding.where, situation.exercise

    def said(case: Case, seen: Observation) -> list[str]:
        right = expected_of(exercise, case).values.get(where)
        return list(says(right, seen.values.get(where), case.params))

    def is_wrong(case: Case, seen: Observation) -> bool:
        mine, right = only(seen, whole), only(expected_of(exercise, case), whole)
        return mine is None or right is None or not same_results(mine, right, exercise.tolerance)

    if found := said(shown.result.case, shown.seen):
        others = [set(said(*other)) for other in _others(situation) if is_wrong(*other)]
        yield from (one for one in found if others and all(one in other for other in others))


def _others(situation: Situation) -> Iterator[tuple[Case, Observation]]:
    """Yield other failing cases and, in a notebook, the case shown with other numbers."""
    for one in situation.judged:
        if one is not situation.shown and not one.holds and one.seen and not one.seen.problem:
            yield one.result.case, one.seen
    case, exercise, own = situation.shown.result.case, situation.exercise, situation.own
    if own is None or case.hidden:
        return
    other = replace(case, params={**case.params, VARIATION: "drawn again"})
    right = expected_of(exercise, other)
    if not same_results(right, expected_of(exercise, case), exercise.tolerance):
        seen = with_facts(exercise, other, own.observe(exercise.probe, other))
        if seen is not None and seen.problem is None:
            yield other, seen
