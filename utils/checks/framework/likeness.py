"""Say what an answer behaves like, where no known mistake explains it.

The likenesses are mistakes made by machine: one-place changes of right answers, known again by
their fingerprints.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from utils.checks.framework.agreeing import Judged, is_zero
from utils.checks.framework.exercise import Exercise, Mistake
from utils.checks.framework.expected import expected_of
from utils.checks.framework.fingerprint_file import read_exercise
from utils.checks.framework.fingerprints import (
    Fingerprint,
    Fingerprints,
    Print,
    alike,
    combined,
    print_of,
    same_print,
)
from utils.checks.framework.naming import Named
from utils.checks.framework.observation import ProblemKind
from utils.checks.framework.words_used import may_be_told

_HINT = "Look there first: of many small changes to right answers, this one gives your results."
_OF_NUMBERS = (ProblemKind.VALUES, ProblemKind.SHAPE, ProblemKind.DTYPE)
Rows = list[
    tuple[Print | None, int, bool]
]  # the answer's print, the case's place, whether it holds


def likeness(
    exercise: Exercise,
    judged: Sequence[Judged],
    shown: Judged,
    used: Collection[str] | None = None,
) -> Named:
    """Return what an answer behaves like, or two mistakes that it behaves like at once.

    Args:
        exercise: has the file of machine-made mistakes.
        judged: all cases.
        shown: the failing case that the student sees.
        used: the names in the answer's code, if they are known: no other function is told of.

    """
    finding = shown.result.finding
    if exercise.fingerprints is None or finding is None or finding.kind not in _OF_NUMBERS:
        return None, None
    kept = read_exercise(exercise.fingerprints, exercise.id)
    if kept is None:
        return None, None
    chosen = [j for j in judged if j.result.case.is_core or j is shown]
    if all(is_zero(j) for j in chosen if not (j.holds or j.result.case.hidden)):
        return None, None  # many mistakes give 0
    rows = list(_rows(exercise, kept, chosen))
    failing = sum(row[0] is not None and not row[2] for row in rows)
    if failing == 0 or (failing == 1 and _is_fact(exercise, shown)):
        return None, None  # a word or a yes in a single case may agree by chance
    where = finding.where.partition("[")[0]
    part = shown.seen.values.get(where) if shown.seen is not None else None
    is_telling = isinstance(part, np.ndarray) and part.size > 1  # one number may agree by chance
    told = replace(kept, mistakes=_told(kept.mistakes, used), pairs=_told(kept.pairs, used))
    return next(_found(told, rows, where, is_telling=is_telling), (None, None))


def _is_fact(exercise: Exercise, shown: Judged) -> bool:
    """Return whether what is wrong in a case has few values, as a yes or no has."""
    finding = shown.result.finding
    where = finding.where.partition("[")[0] if finding is not None else ""
    return isinstance(expected_of(exercise, shown.result.case).values.get(where), (bool, str))


def _told(mistakes: Sequence[Fingerprint], used: Collection[str] | None) -> tuple[Fingerprint, ...]:
    return tuple(m for m in mistakes if all(may_be_told(one, used) for one in m.as_if))


def _rows(
    exercise: Exercise, kept: Fingerprints, judged: Sequence[Judged]
) -> Iterator[tuple[Print | None, int, bool]]:
    """Pair cases with kept ones, if the inputs are those from which the file was made."""
    places = {name: place for place, name in enumerate(kept.cases)}
    for one in judged:
        case = one.result.case
        place = places.get(case.name)
        if case.hidden or place is None:
            continue
        if same_print(print_of(expected_of(exercise, case)), kept.right[place]):
            yield print_of(one.seen), place, one.holds


def _found(kept: Fingerprints, rows: Rows, where: str, *, is_telling: bool) -> Iterator[Named]:
    """Find mistakes that agree in all cases, two that do so, then one that does in one result."""
    for mistake in kept.mistakes:
        if _agree(mistake, rows, same_print) == len(rows):
            yield _mistake(mistake.as_if[0], "Your code behaves as if {}."), None
    together = [(combined(mine), place, holds) for mine, place, holds in rows]
    for pair in kept.pairs:
        if _agree(pair, together, same_print) == len(rows):
            one, other = pair.as_if
            also = replace(_mistake(other, "It also behaves as if {}."), hint="")
            yield _mistake(one, "Your code behaves as if {}."), also
    for mistake in kept.mistakes if is_telling else ():
        if _agree(mistake, rows, _same_in(where)) == len(rows):
            yield _mistake(mistake.as_if[0], f"As for {where}, your code behaves as if {{}}."), None


def _agree(
    mistake: Fingerprint, rows: Rows, same: Callable[[Print | None, Print | None], bool]
) -> int:
    """Count the cases in which a mistake agrees; 0 if it is wrong where the answer is right."""
    agrees = [(same(mine, mistake.prints[place]), holds) for mine, place, holds in rows]
    return 0 if any(holds and not agreed for agreed, holds in agrees) else sum(a for a, _ in agrees)


def _same_in(name: str) -> Callable[[Print | None, Print | None], bool]:
    def same(one: Print | None, other: Print | None) -> bool:
        if one is None or other is None or name not in one or name not in other:
            return False
        return alike(one[name], other[name])

    return same


def _mistake(as_if: str, message: str) -> Mistake:
    name = "as_if_" + re.sub(r"\W+", "_", as_if).strip("_")
    return Mistake(name, message.format(as_if), _HINT)
