"""True sentences on all cases of an answer together, where no known mistake explains it."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from utils.checks.compare.compare import identical, number
from utils.checks.exercise import Exercise
from utils.checks.explain.known.agreeing import Judged
from utils.checks.observation import Array, Observation
from utils.checks.observe.expected import expected_of
from utils.words import listed

Pairs = list[tuple[Array, Array]]  # what is right and what came, case by case
Sized = list[tuple[float, Mapping[str, Any]]]  # a factor and the sizes, case by case

SEVERAL = 2  # cases
_SEVERAL_NUMBERS = 3  # cases of one number each: two have a factor in common by chance
_ALIKE = 1e-3  # share by which two factors may differ
_MOST_NAMES = 5
# What a result is multiplied by -> where such a factor comes from.
_KNOWN = {
    1 / math.log(2): "1 / ln 2, as with a logarithm to base 2",
    1 / math.log(10): "1 / ln 10, as with a logarithm to base 10",
    math.pi / 180: "pi / 180, as from degrees to radians",
    180 / math.pi: "180 / pi, as from radians to degrees",
}
# A factor made of a size, and its name.
_OF_SIZE: dict[str, Callable[[int], float]] = {
    "{}": float,
    "1 / {}": lambda size: 1 / size,
    "the root of {}": math.sqrt,
    "1 / the root of {}": lambda size: 1 / math.sqrt(size),
}


def of_all_cases(exercise: Exercise, judged: Sequence[Judged], name: str) -> Iterator[str]:
    """Say what holds of a result in every case of the idea: a range, a sign."""
    pairs = [pair for j in judged if (pair := _pair(exercise, j, name)) is not None]
    wrong = [(right, got) for right, got in pairs if not _alike(right, got, exercise.tolerance)]
    if len(pairs) >= SEVERAL and wrong:
        yield from _range(name, pairs)
        yield from _side(name, wrong)


def factor_everywhere(exercise: Exercise, judged: Sequence[Judged], name: str) -> str:
    """Say what a result is multiplied by in every case of the idea: a number, or one of a size."""
    found: Sized = []
    n_entries = 0
    for one in judged:
        case = one.result.case
        if not case.is_core or name not in expected_of(exercise, case).values:
            continue
        if (pair := _pair(exercise, one, name)) is None:
            return ""
        if any(values.any() for values in pair):  # zeros are any multiple of zeros
            found.append((_factor_of(*pair, exercise.tolerance), case.params))
            n_entries += pair[0].size
    factors, counts = [factor for factor, _ in found], n_entries > len(found)
    if len(found) < (SEVERAL if counts else _SEVERAL_NUMBERS) or not all(factors):
        return ""
    if not _is_one(factors):
        return _of_a_size(found)
    return "" if math.isclose(factors[0], 1, rel_tol=_ALIKE) else _of_a_number(factors[0])


def _is_one(factors: Sequence[float]) -> bool:
    return math.isclose(min(factors), max(factors), rel_tol=_ALIKE)


def _of_a_number(factor: float) -> str:
    known = [
        words for value, words in _KNOWN.items() if math.isclose(abs(factor), value, rel_tol=_ALIKE)
    ]
    return number(factor) + (f" ({known[0]})" if known else "")


def _of_a_size(found: Sized) -> str:
    """Say of which size factors are made: alone or, if it has many values, with a number."""
    letters = [k for k, n in found[0][1].items() if type(n) is int and _is_size(k)]
    words = [says for letter in letters if (says := _made_of(found, letter))]
    return words[0] if len(words) == 1 else ""


def _made_of(found: Sized, letter: str) -> str:
    sizes = [params.get(letter) for _, params in found]
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        return ""
    for form, of in _OF_SIZE.items():
        rest = [factor / of(params[letter]) for factor, params in found]
        if math.isclose(rest[0], 1, rel_tol=_ALIKE) and _is_one(rest):
            return form.format(letter)
        if len({*sizes}) >= _SEVERAL_NUMBERS and _is_one(rest):
            return f"{number(rest[0])} times {form.format(letter)}"
    return ""


def _is_size(name: str) -> bool:
    return name[:1].isupper() or name.startswith("d_")


def of_reach(expected: Observation, seen: Observation) -> Iterator[str]:
    """Say which inputs should have a part in the results, and have none."""
    unused = [
        name
        for name, right in expected.gradients.items()
        if isinstance(right, np.ndarray)
        and np.nan_to_num(right).any()
        and seen.gradients.get(name, right) is None
    ]
    if unused:
        yield (
            f"No gradient reaches {listed(unused)}: not used, or something on the way to the "
            "result stops the gradient."
        )


def of_named(name: str, wanted: object, got: object) -> Iterator[str]:
    """Say which entries of a result with names are right, missing, or too many."""
    if not isinstance(wanted, dict) or not isinstance(got, dict):
        return
    missing, more = _names(wanted.keys() - got.keys()), _names(got.keys() - wanted.keys())
    words = {value: key for key, value in got.items() if isinstance(value, str)}
    if missing and len(words) == len(got) and words == wanted:
        yield f"{name} is the wrong way round: keys and values are swapped."
    elif missing or more:
        lacks = [f"lacks {missing}"] if missing else []
        has = [f"has {more} too many"] if more else []
        yield f"{name} {' and '.join([*lacks, *has])}."
    right = [key for key in wanted if identical(wanted[key], got.get(key))]
    if right and len(right) < len(wanted) and not missing and not more:
        wrong = [key for key in wanted if key not in right]
        yield f"Of {name}, right: {_names(right)}; wrong: {_names(wrong)}."


def _names(keys: Iterable[object]) -> str:
    return listed(sorted(map(repr, keys))[:_MOST_NAMES])


def _pair(exercise: Exercise, judged: Judged, name: str) -> tuple[Array, Array] | None:
    """Return a result that is right and the one that came, if they have one form."""
    if not judged.result.case.is_core or judged.seen is None or judged.seen.problem is not None:
        return None
    case = judged.result.case
    right, got = (
        _numbers(seen.values.get(name)) for seen in (expected_of(exercise, case), judged.seen)
    )
    if right is None or got is None or right.shape != got.shape or not np.isfinite(got).all():
        return None
    return right, got


def _numbers(value: Any) -> Array | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (np.ndarray, int, float)) and np.asarray(value).dtype.kind in "if":
        numbers = np.asarray(value, dtype=np.float64)
        return numbers if numbers.size and np.isfinite(numbers).all() else None
    return None


def _alike(right: Array, got: Array, tolerance: float) -> bool:
    largest = float(np.abs(right).max())  # numbers may all be far smaller than one
    return bool(np.allclose(right, got, 10 * tolerance, 10 * tolerance * min(largest, 1.0)))


def _factor_of(right: Array, got: Array, tolerance: float) -> float:
    """Return the factor between two results, 0 if there is none."""
    at = np.unravel_index(np.abs(right).argmax(), right.shape)
    factor = float(got[at] / right[at]) if right[at] else 0.0
    return factor if _alike(np.multiply(factor, right), got, tolerance) else 0.0


def _range(name: str, pairs: Pairs) -> Iterator[str]:
    """Say that a result leaves the range in which the right ones stay, if that has a name."""
    right, got = (np.concatenate([p[n].ravel() for p in pairs]) for n in (0, 1))
    for low, high, words in ((0, 1, "between 0 and 1"), (-1, 1, "between -1 and 1")):
        reaches = np.abs(right).max() > 0.95 or low == 0  # not by chance
        if right.min() >= low and right.max() <= high and reaches:
            if got.min() < low - 1e-3 or got.max() > high + 1e-3:
                far = got[np.abs(got - (low + high) / 2).argmax()]
                yield f"{name} reaches {number(far)}; the right values stay {words} in these cases."
            return
    if right.min() >= 0 and got.min() < -1e-6:
        yield f"{name} is negative in places; the right values never are."


def _side(name: str, wrong: Pairs) -> Iterator[str]:
    """Say that every number is too large, or every one too small."""
    for words, above in (("too large", np.greater), ("too small", np.less)):
        if all(above(got, right).all() for right, got in wrong):
            yield f"Wherever {name} is wrong, it is {words}."
