"""Name a mistake that is known of a function which the right answer calls."""

from utils.checks.exercise import Exercise, ExerciseKind, Mistake
from utils.checks.explain.bank import SEVERAL, explains
from utils.checks.explain.known.search import Search, search_of, where_it_agrees
from utils.checks.explain.situation import Explanation, Situation, by

_CODED = (ExerciseKind.WRITE, ExerciseKind.REPAIR)


def explain(situation: Situation) -> Explanation | None:
    """Name the first that explains the case shown and all others of the idea."""
    search = search_of(situation)
    if search is None or situation.exercise.probe.kind not in _CODED:
        return None
    known = situation.exercise.of_parts()
    return by(
        next((m for one in search.strictness for m in known if _is_meant(one, m, search)), None)
    )


def _is_meant(exercise: Exercise, mistake: Mistake, search: Search) -> bool:
    return (
        explains(exercise, mistake, search.shown)
        and bool(where_it_agrees(exercise, mistake, search.relevant, SEVERAL))
    )
