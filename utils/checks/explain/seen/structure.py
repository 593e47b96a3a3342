"""True sentences on the structure of a wrong result: its rows, its diagonal, its neighbours.

A row that is right up to a factor of its own was divided by something else. No bank of mistakes is
needed to see that.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from utils.checks.compare.closeness import close
from utils.checks.compare.compare import number
from utils.checks.exercise import Exercise
from utils.checks.explain.known.agreeing import Judged
from utils.checks.observation import Array
from utils.checks.observe.expected import expected_of
from utils.words import listed

Sentences = Iterator[str]

_LEAST = 3  # entries of a row: two numbers are always alike up to a factor and a shift


def of_structure(name: str, wanted: object, got: object, tolerance: float) -> Sentences:
    """Say what the rows of a result have that the right ones have too."""
    if _are_alike(wanted, got):
        yield from _of_lines(name, *_numbers(wanted, got), tolerance)


def of_diagonals(name: str, wanted: object, got: object, tolerance: float) -> Sentences:
    """Say that a result is zero above its diagonals, or right on them alone, or beside them."""
    if _are_alike(wanted, got):
        yield from _of_upper_half(name, *_numbers(wanted, got))
        yield from _of_diagonal(name, *_numbers(wanted, got), tolerance)


def _numbers(wanted: object, got: object) -> tuple[Array, Array]:
    return np.asarray(wanted, np.float64), np.asarray(got, np.float64)


def _are_alike(wanted: object, got: object) -> bool:
    if not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray):
        return False
    numbers = wanted.dtype.kind == got.dtype.kind == "f" and wanted.shape == got.shape
    finite = numbers and bool(np.isfinite(wanted).all() and np.isfinite(got).all())
    return finite and wanted.ndim >= 2 and wanted.size > 0


def _of_upper_half(name: str, right: Array, got: Array) -> Sentences:
    """Say that a result vanishes above its diagonals, and should not."""
    later = np.triu(np.ones(right.shape[-2:], dtype=bool), 1)
    if right.shape[-2] < 2 or not later.any():
        return
    if not got[..., later].any() and right[..., later].any() and got[..., ~later].any():
        yield (
            f"{name} is zero wherever its last index is larger than the one before, as if all that "
            "comes later were left out. The right one is not."
        )


def _of_lines(name: str, right: Array, got: Array, tolerance: float) -> Sentences:
    """Say that each row, or each column, is right up to a factor of its own."""
    columns = np.moveaxis(right, -2, -1), np.moveaxis(got, -2, -1)
    if _scaled(right, got, tolerance):
        yield from _of_factors("row", name, _factors(right, got), "what a row is divided by")
    elif _scaled(_centred(right), _centred(got), tolerance):
        yield (
            f"Each row of {name} is right up to a factor and a number added, each row's own: look "
            "at what is subtracted from a row, and what it is divided by."
        )
    elif _scaled(*columns, tolerance):
        yield from _of_factors("column", name, _factors(*columns), "what a column is multiplied by")


def _of_factors(line: str, name: str, factors: Array, where: str) -> Sentences:
    least, most = float(factors.min()), float(factors.max())
    if number(least) != number(most):  # else all of the result is right up to one factor
        yield (
            f"Each {line} of {name} is right up to a factor of its own, from {number(least)} to "
            f"{number(most)}: look at {where}."
        )


def _centred(lines: Array) -> Array:
    middle: Array = lines - lines.mean(-1, keepdims=True)
    return middle


def _factors(right: Array, got: Array) -> Array:
    """Return by what each line that is not zero is multiplied."""
    factors, counts = _multiples(right, got)
    found: Array = factors[counts]
    return found


def _multiples(right: Array, got: Array) -> tuple[Array, Array]:
    """Return by what each line is multiplied, and which lines are not zero."""
    sizes = _products(right, right)
    counts = np.greater(sizes, 0)
    return np.divide(_products(right, got), np.where(counts, sizes, 1.0)), counts


def _products(one: Array, other: Array) -> Array:
    """Return the inner product of each line of one array with that of another."""
    found: Array = np.multiply(one, other).sum(-1)
    return found


def _near(right: Array, got: Array, tolerance: float) -> Array:
    return np.isclose(right, got, rtol=10 * tolerance, atol=10 * tolerance)


def _scaled(right: Array, got: Array, tolerance: float) -> bool:
    """Return whether every line of a result is the right one, times a number that is not zero."""
    factors, counts = _multiples(right, got)
    again = np.multiply(factors[..., None], right)
    same = right.shape[-1] >= _LEAST and bool(_near(again, got, tolerance).all())
    moved = np.abs(factors[counts])
    return same and bool(counts.any() and np.greater(moved, tolerance).all())


def _of_diagonal(name: str, right: Array, got: Array, tolerance: float) -> Sentences:
    """Say that a square result is right on its diagonal alone, or everywhere else."""
    rows, columns = right.shape[-2:]
    if rows != columns or rows < _LEAST:
        return
    alike, on = _near(right, got, tolerance), np.eye(rows, dtype=bool)
    if alike[..., on].all() and not alike[..., ~on].all():
        yield f"{name} is right on its diagonal, but wrong beside it."
    elif alike[..., ~on].all() and not alike[..., on].any():
        yield f"{name} is wrong on its diagonal, but right everywhere else."


def of_results(exercise: Exercise, judged: Sequence[Judged], wrong: str) -> Sentences:
    """Say which of several results is right in every case."""
    ended = [j for j in judged if j.seen and j.seen.problem is None]
    core = [j for j in ended if j.result.case.is_core]
    whole = wrong.partition("[")[0]
    names = _results(exercise, core[0]) if core else []
    right = [n for n in names if n != whole and all(_is_right(exercise, j, n) for j in ended)]
    if right and whole in names:
        are = "is" if len(right) == 1 else "are"
        yield f"{listed(right)} {are} right in every case, but {whole} is not."


def _results(exercise: Exercise, judged: Judged) -> list[str]:
    """Return the names of what an answer returns; facts beside it have names of several words."""
    values = expected_of(exercise, judged.result.case).values
    return [n for n, value in values.items() if isinstance(value, np.ndarray) and n.isidentifier()]


def _is_right(exercise: Exercise, judged: Judged, name: str) -> bool:
    """Return whether a result is right in a case, or not asked for there."""
    seen = judged.seen.values if judged.seen is not None else {}
    wanted, got = expected_of(exercise, judged.result.case).values.get(name), seen.get(name)
    if wanted is None:
        return True
    if not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray):
        return False
    same_form = (wanted.shape, wanted.dtype) == (got.shape, got.dtype)
    return same_form and bool(close(wanted, got, exercise.tolerance).all())
