"""When two arrays count as the same numbers."""

import math

import numpy as np

from utils.checks.observation import Array

_MOST_EXACT = 2**53  # larger integers are rounded in float64
_WHOLE = 0.5  # what differs by that is another number, however large both are
_NEARLY = 1e-3  # share by which a result differs that an epsilon or rounding has changed


def close(wanted: Array, value: Array, tolerance: float) -> Array:
    """Return, entry by entry, whether two arrays of one shape agree (NaN agrees with NaN)."""
    if wanted.dtype.kind != "f":
        return np.asarray(wanted == value)
    margin = _margin(wanted, tolerance)
    return np.isclose(
        value.astype(np.float64),
        wanted.astype(np.float64),
        rtol=margin,
        atol=margin,
        equal_nan=True,
    )


def _margin(wanted: Array, tolerance: float) -> float:
    # In float64, a constant rounded to float32 is still fine, but a product in float32 is an error.
    return tolerance if wanted.dtype == np.float32 else tolerance * 3e-3


def all_close(wanted: Array, value: Array, tolerance: float) -> bool:
    """Return whether all entries are finite and agree, at a fifth of the cost of asking for each.

    Where one is not finite, neither is the sum, and this says no.
    """
    if wanted.dtype.kind != "f":
        return bool((wanted == value).all())
    margin = _margin(wanted, tolerance)
    right = wanted.astype(np.float64)
    with np.errstate(all="ignore"):  # infinity less infinity
        apart = np.abs(value.astype(np.float64) - right)
        return bool((apart <= margin + margin * np.abs(right)).all()) and math.isfinite(right.sum())


def agree(wanted: Array, value: Array, tolerance: float) -> bool:
    """Return whether all entries agree, as `close` has it, and ask for each only where it must."""
    if all_close(wanted, value, tolerance):
        return True
    if wanted.dtype.kind != "f" or (_is_finite(wanted) and _is_finite(value)):
        return False
    return bool(close(wanted, value, tolerance).all())


def _is_finite(array: Array) -> bool:
    with np.errstate(all="ignore"):
        return math.isfinite(array.sum(dtype=np.float64))


def agree_as_numbers(wanted: float, value: float, tolerance: float) -> bool:
    """Return whether two numbers agree relative to the wanted one (NaN agrees with NaN)."""
    if _is_plain(wanted) and _is_plain(value):  # ten times as fast
        return abs(value - wanted) <= tolerance * abs(wanted)
    return bool(np.isclose(value, wanted, rtol=tolerance, atol=0, equal_nan=True))


def _is_plain(number: float) -> bool:
    """Return whether float64 holds a number as it is, and it is neither infinite nor NaN."""
    return type(number) in (int, float) and abs(number) < _MOST_EXACT


def has_no_number(wanted: object, value: object) -> bool:
    """Return whether a result holds nothing finite, where finite numbers are right.

    Such a result identifies nothing: all that goes wrong early enough gives it.
    """
    right, mine = (np.asarray(one) if _is_float(one) else None for one in (wanted, value))
    if right is None or mine is None or mine.size == 0:
        return False
    return bool(np.isfinite(right).any() and not np.isfinite(mine).any())


def _is_float(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def nearly(wanted: object, value: object) -> bool:
    """Return whether a result's numbers differ from the right ones in their last digits only."""
    if not isinstance(wanted, np.ndarray) or not isinstance(value, np.ndarray):
        return False
    if (wanted.shape, wanted.dtype.kind, value.dtype.kind) != (value.shape, "f", "f"):
        return False
    largest = min(1.0, float(np.abs(wanted).max(initial=0.0)))  # what is 0 has digits of its own
    apart = np.abs(np.subtract(value, wanted, dtype=np.float64))
    near = np.allclose(value, wanted, rtol=_NEARLY, atol=_NEARLY * largest)
    return bool(near) and bool((apart < _WHOLE).all())
