"""Name what was done to the scores that went into a softmax, from the weights that came of them.

The logarithms of weights are scores, up to a number for each row. So weights alone tell whether
scores were cut off at a bound, multiplied row by row, or all but the largest left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from utils.checks.compare.compare import number
from utils.checks.exercise import Exercise, Mistake
from utils.checks.explain.known.agreeing import Judged
from utils.checks.explain.seen.entries_seen import are_shares
from utils.checks.observation import Array
from utils.checks.observe.expected import expected_of

_COUNTS = 1e-6  # smaller weights have too few digits for a logarithm
_MARGIN = 1e-3  # of logarithms: small weights have few digits
_LEAST = 3  # weights of a row: two are always as from scores times something
_ROWS = 3  # so many rows are no chance
_HINT = (
    "Softmax gets the scores as the formula has them: look at what your code does to them first."
)


@dataclass(frozen=True)
class _Row:
    """A row of weights: the right ones that are not zero, and the weights in their place.

    Attributes:
        right: weights that count.
        got: the answer's weights.
        whole: whether the answer's weights sum to one, with what does not count.

    """

    right: Array
    got: Array
    whole: bool


Rows = Sequence[_Row]


def of_weights_seen(exercise: Exercise, judged: Sequence[Judged]) -> Mistake | None:
    """Return what was done to the scores, if the weights of all cases tell the same."""
    right = expected_of(exercise, judged[0].result.case).values if judged else {}
    found = (_of_result(exercise, judged, name) for name in right)
    return next((one for one in found if one is not None), None)


def _of_result(exercise: Exercise, judged: Sequence[Judged], name: str) -> Mistake | None:
    cases = [rows for one in judged if (rows := list(_rows(exercise, one, name)))]
    wrong = [rows for rows in cases if not all(map(_is_right, rows))]
    everything = [row for rows in wrong for row in rows]
    if len(everything) < _ROWS:
        return None
    says = _kept(everything)
    if not says and all(row.whole for row in everything):
        says = _multiplied(wrong) or _bounded(everything)
    return Mistake("scores_changed", says, _HINT) if says else None


def _rows(exercise: Exercise, judged: Judged, name: str) -> Iterator[_Row]:
    """Yield the rows of a case's weights; none if they are no weights."""
    wanted = expected_of(exercise, judged.result.case).values.get(name)
    got = judged.seen.values.get(name) if judged.seen is not None else None
    if not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray):
        return
    if (
        not are_shares(wanted)
        or wanted.shape != got.shape
        or not np.isfinite(got).all()
        or not np.greater_equal(got, 0).all()
    ):
        return
    width = wanted.shape[-1]
    pairs = zip(wanted.reshape(-1, width), got.reshape(-1, width), strict=True)
    for right, mine in pairs:
        counts = np.greater(right, _COUNTS)
        if counts.any():
            whole = abs(float(mine.sum()) - 1) < _MARGIN
            yield _Row(right[counts].astype(np.float64), mine[counts].astype(np.float64), whole)


def _is_right(row: _Row) -> bool:
    return bool(np.allclose(row.right, row.got, atol=1e-5))


def _kept(rows: Rows) -> str:
    """Say that only the largest weights of each row are left, always as many."""
    many = max(int(np.greater(row.got, 0).sum()) for row in rows)
    if all(len(row.right) <= many for row in rows):
        return ""
    for again in (True, False):
        if all(np.allclose(_largest(row, many, again), row.got, atol=1e-4) for row in rows):
            what = "the largest weight is" if many == 1 else f"the {many} largest weights are"
            return f"In each row only {what} left."
    return ""


def _largest(row: _Row, many: int, again: bool) -> Array:
    """Return the largest right weights, divided by their sum again or as they are."""
    least = np.sort(row.right)[-min(many, len(row.right))]
    kept = np.where(np.greater_equal(row.right, least), row.right, 0.0)
    return np.divide(kept, kept.sum()) if again else kept


def _multiplied(cases: Sequence[Rows]) -> str:
    """Say that scores are multiplied: by one number in each case, or by one of each row's own."""
    found = [_factors(rows) for rows in cases]
    factors = [factor for some in found if some is not None for factor in some]
    if None in found or len(factors) < _ROWS:
        return ""
    least, most = min(factors), max(factors)
    if abs(least) < _MARGIN or (abs(least - 1) < _MARGIN and abs(most - 1) < _MARGIN):
        return ""
    span = f"from {number(least)} to {number(most)}"
    if _is_one(factors):
        return f"The weights are those of scores {number(most)} times as large as the right ones."
    if all(_is_one(some) for some in found if some):
        return (
            f"The scores have the wrong factor: they are {span} times as large as they should be, "
            "by one number in each case."
        )
    return f"The scores of each query are multiplied by a number of the query's own, {span}."


def _factors(rows: Rows) -> list[float] | None:
    """Return by what the scores of each long row are multiplied; None if one is not."""
    if any(np.less_equal(row.got, 0).any() for row in rows):
        return None
    found = [_factor(row) for row in rows if len(row.right) >= _LEAST]
    factors = [factor for factor in found if factor is not None]
    return factors if len(factors) == len(found) else None


def _is_one(factors: Sequence[float]) -> bool:
    return max(factors) - min(factors) < 10 * _MARGIN * abs(max(factors))


def _factor(row: _Row) -> float | None:
    """Return by what the scores of a row are multiplied, if they are."""
    right, got = (_centred(np.log(one)) for one in (row.right, row.got))
    size = float(np.dot(right, right))
    factor = float(np.dot(right, got)) / size if size > _MARGIN else 0.0
    return factor if np.allclose(np.multiply(factor, right), got, atol=_MARGIN) else None


def _centred(line: Array) -> Array:
    found: Array = line - line.mean()
    return found


def _bounded(rows: Rows) -> str:
    """Say that something is cut off: a row's outermost weights are equal, and should differ."""
    if any(np.less_equal(row.got, 0).any() for row in rows):
        return ""
    ends = [_ends(row) for row in rows]
    if any(found is None for found in ends):
        return ""
    high, low = (sum(found[n] for found in ends if found is not None) for n in (0, 1))
    if high + low < _ROWS:
        return ""
    which = " and ".join(["largest"] * (high > 0) + ["smallest"] * (low > 0))
    return (
        f"Scores, or weights, are cut off at a bound: the {which} of a row come out equal, and "
        "should differ."
    )


def _ends(row: _Row) -> tuple[bool, bool] | None:
    """Return whether several of the largest, and of the smallest, are equal; None if more is wrong.

    In between, scores must differ from the right ones by one number. A single score may be cut off
    as well, so the outermost ones prove nothing.
    """
    order = np.argsort(row.right)
    right, got = np.log(row.right[order]), np.log(row.got[order])
    if (np.diff(got) < -_MARGIN).any():
        return None
    top, bottom = (np.isclose(got, got[place], atol=1e-5, rtol=0) for place in (-1, 0))
    apart = (got - right)[~(top | bottom)]
    if apart.size and np.ptp(apart) > _MARGIN:
        return None
    if top.all():
        return False, False  # which end is cut off does not show
    return bool(top.sum() > 1), bool(bottom.sum() > 1)
