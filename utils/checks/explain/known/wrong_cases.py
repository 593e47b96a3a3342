"""Ask in which cases a known mistake is wrong, and whether it is so wherever an answer fails."""

from collections.abc import Sequence
from typing import Final

from utils.checks.compare.compare import same_results
from utils.checks.exercise import Case, Exercise, Mistake
from utils.checks.explain.known.prefilter import surely_right, surely_wrong
from utils.checks.observation import Observation
from utils.checks.observe.expected import expected_of, results_of

SEVERAL: Final = 3  # cases: two have a size in common by chance
_MOST_KNOWN: Final = 50_000
# With what was right at the time: who forgets that forgets this.
_KNOWN: dict[tuple[str, float, str, str], tuple[Observation, bool]] = {}


def is_wrong(exercise: Exercise, mistake: Mistake, case: Case) -> bool:
    """Return whether a mistake gives wrong results in a case; the answer is kept.

    It is asked about all mistakes and cases again for every submission.
    """
    key = exercise.id, exercise.tolerance, mistake.name, case.key
    right = expected_of(exercise, case)
    known = _KNOWN.get(key)
    if known is None or known[0] is not right:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[key] = right, _is_wrong(exercise, mistake, case)
    return known[1]


def _is_wrong(exercise: Exercise, mistake: Mistake, case: Case) -> bool:
    if surely_wrong(exercise, mistake, case):
        return True
    if surely_right(exercise, mistake, case):
        return False
    variant = results_of(exercise, mistake.name, mistake.answer, case)
    return not same_results(variant, expected_of(exercise, case), exercise.tolerance)


def is_as_wrong(exercise: Exercise, mistake: Mistake, others: Sequence[Case]) -> bool:
    """Return whether a mistake is wrong in other cases, too, where results are one number or facts.

    These agree by chance more often than tensors do: a case of the idea that an answer fails, and
    in which the mistake is right, then has another cause.

    """
    says_little = [case for case in others if case.is_core and _says_little(exercise, case)]
    return all(is_wrong(exercise, mistake, case) for case in says_little)


def share_a_size(agreed: Sequence[Case], others: Sequence[Case]) -> bool:
    """Return whether a size has one value in cases that agree, and another one in all others.

    What is made of that size then equals a constant by chance: 2 Dk is 8 where Dk is 4. A size of
    one is no such chance: there, another fault leaves no trace.

    """
    if len(agreed) < SEVERAL or not others:
        return False
    return any(
        _is_size(name, value)
        and all(case.params.get(name) == value for case in agreed)
        and all(case.params.get(name, value) != value for case in others)
        for name, value in agreed[0].params.items()
    )


def _is_size(name: str, value: object) -> bool:
    """Return whether a parameter is a size, which the lessons write B, Dk or d_model."""
    return type(value) is int and value > 1 and (name[0].isupper() or name.startswith("d_"))


def _says_little(exercise: Exercise, case: Case) -> bool:
    if exercise.facts is not None:
        return True
    values = [v for v in expected_of(exercise, case).values.values() if not isinstance(v, bool)]
    return len(values) == 1 and isinstance(values[0], (int, float))
