"""Rule known mistakes in and out by their fingerprints, so that few of them have to be tried.

What a mistake gives in a visible case is kept in the lesson's file. Where nothing is kept, or the
inputs are others than those of the file, nothing is ruled out.
"""

from utils.checks.compare.fingerprint_file import read_exercise
from utils.checks.compare.fingerprints import (
    MARGIN,
    Fingerprints,
    Print,
    print_of,
    same_print,
)
from utils.checks.exercise import Case, Exercise, Mistake
from utils.checks.observation import Observation
from utils.checks.observe.expected import expected_of

_LEAST = 1e-3  # small results may differ by the tolerance of every entry
_LOOSE = 0.1  # relative to the norm, where the last digits are not compared
_MOST_PLACES = 5_000
_PLACES: dict[tuple[int, int, str], tuple[Fingerprints, Observation, int | None]] = {}


def surely_differs(
    exercise: Exercise, mistake: Mistake, case: Case, seen: Observation, *, loosely: bool = False
) -> bool:
    """Return whether a mistake gives other results than an observation, for all that is kept."""
    margin = _LOOSE if loosely else MARGIN
    return any(
        not same_print(print_of(seen), one, margin, _LEAST)
        for one in _kept(exercise, mistake, case)
    )


def surely_wrong(exercise: Exercise, mistake: Mistake, case: Case) -> bool:
    """Return whether a mistake gives wrong results in a case, for all that is kept."""
    right = print_of(expected_of(exercise, case))
    return any(not same_print(right, one, MARGIN, _LEAST) for one in _kept(exercise, mistake, case))


def surely_right(exercise: Exercise, mistake: Mistake, case: Case) -> bool:
    """Return whether a mistake gives what is right in a case, for all that is kept."""
    right = print_of(expected_of(exercise, case))
    return any(same_print(right, one) for one in _kept(exercise, mistake, case))


def _kept(exercise: Exercise, mistake: Mistake, case: Case) -> list[Print | None]:
    """Return the one fingerprint that is kept, or nothing."""
    path = exercise.fingerprints
    kept = read_exercise(path, exercise.id) if path is not None else None
    if kept is None or case.hidden or mistake.name not in kept.bank:
        return []
    place = _place_of(kept, case.name, expected_of(exercise, case))
    return [] if place is None else [kept.bank[mistake.name][place]]


def _place_of(kept: Fingerprints, name: str, right: Observation) -> int | None:
    """Return where a case stands in the file, if its inputs are those of the file.

    Every mistake of a bank asks for the same few cases, so that the answer is kept.
    """
    key = id(kept), id(right), name
    known = _PLACES.get(key)
    if known is None or known[0] is not kept or known[1] is not right:
        if len(_PLACES) >= _MOST_PLACES:
            _PLACES.clear()
        place = kept.cases.index(name) if name in kept.cases else None
        if place is not None and not same_print(print_of(right), kept.right[place]):
            place = None
        known = _PLACES[key] = kept, right, place
    return known[2]
