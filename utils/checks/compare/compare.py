"""Find the first difference between an observation and the expected one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from utils.checks.compare.closeness import agree, agree_as_numbers, all_close, close
from utils.checks.observation import Array, Observation, Other, Plain, ProblemKind

# The experiment shows the right answer to a prediction; the check must not.
PREDICTION = "prediction"
DTYPE_OF = "dtype of "  # begins the name of a number type that is observed apart from its numbers
_DIGITS = 8.0  # times a short type's resolution: what rounding may add up to
_MOST_SHOWN = 120  # characters of a value in a message


@dataclass(frozen=True)
class Finding:
    """One difference, described for a person.

    Attributes:
        kind: one of `ProblemKind`.
        where: the result or input that differs.
        message: one sentence on what was expected and what the answer gave instead.
        details: the first differing entries, one per line.
        line: the student's line of code, if one is to blame.
        pictures: expected and got, if the two matrices are worth looking at.
        demand: what was asked beside the idea and is missed, if the numbers themselves are right.

    """

    kind: str
    where: str
    message: str
    details: tuple[str, ...] = ()
    line: str = ""
    pictures: tuple[Array, Array] | None = field(default=None, compare=False)
    demand: str = ""


def compare(
    expected: Observation, got: Observation, tolerance: float, sizes: Mapping[str, Any]
) -> Finding | None:
    """Compare two observations: shapes first, then types, values, changed inputs and gradients.

    Args:
        expected: the oracle's observation.
        got: the student's.
        tolerance: relative and absolute tolerance for float32.
        sizes: the case's parameters, so that messages can name sizes by their letters.

    """
    if got.problem is not None and got.problem.kind != ProblemKind.BACKWARD:
        problem = got.problem
        return Finding(problem.kind, "", problem.message, line=problem.line)
    changed, of_type = _compare_changed(expected, got), None  # missed while the numbers are right
    missing = None  # says less than a result that came, and is wrong
    for name, wanted in expected.values.items():
        finding = _compare_value(name, wanted, got.values, tolerance, sizes)
        if finding is not None and finding.kind == ProblemKind.MISSING:
            missing = missing or finding
        elif finding is not None and not finding.demand:
            return finding
        else:
            of_type = of_type or finding
    if missing is not None:
        return missing
    return _with_what_changed(_compare_gradients(expected, got, tolerance), of_type or changed)


def _with_what_changed(finding: Finding | None, beside: Finding | None) -> Finding | None:
    """Return what is wrong on the way back, or beside right numbers, or both."""
    if finding is None or beside is None or beside.kind != ProblemKind.CHANGED:
        return finding or beside
    return replace(finding, message=f"{finding.message} {beside.message}")


def same_results(one: Observation, other: Observation, tolerance: float) -> bool:
    """Return whether two observations have the same results, whatever their gradients are."""
    if any(o.problem is not None and o.problem.kind != ProblemKind.BACKWARD for o in (one, other)):
        return _same_problem(one, other)
    return _same_values(Observation(one.values), Observation(other.values), tolerance)


def same(one: Observation, other: Observation, tolerance: float) -> bool:
    """Return whether two observations are indistinguishable."""
    if one.problem is not None or other.problem is not None:
        return _same_problem(one, other)
    return _same_values(_without_zero_gradients(one), _without_zero_gradients(other), tolerance)


def _same_values(one: Observation, other: Observation, tolerance: float) -> bool:
    if _tensors_differ(one, other, tolerance):
        return False
    return compare(one, other, tolerance, {}) is None and compare(other, one, tolerance, {}) is None


def _tensors_differ(one: Observation, other: Observation, tolerance: float) -> bool:
    """Return whether a tensor among the results surely differs, before findings are worded."""
    for name, wanted in one.values.items():
        value = other.values.get(name)
        if isinstance(wanted, np.ndarray) and isinstance(value, np.ndarray):
            if (wanted.shape, wanted.dtype) != (value.shape, value.dtype):
                return True
            if not agree(wanted, value, tolerance):
                return True
    return False


def identical(one: Plain, other: Plain) -> bool:
    """Return whether two values are of one type and the same, to the last digit."""
    return type(one) is type(other) and _compare_value("", one, {"": other}, 0.0, {}) is None


def _without_zero_gradients(seen: Observation) -> Observation:
    """Take gradients of zero for none at all: that is what a part left out has in one form each."""
    return replace(
        seen,
        gradients={
            name: None if isinstance(value, np.ndarray) and not value.any() else value
            for name, value in seen.gradients.items()
        },
    )


def _same_problem(one: Observation, other: Observation) -> bool:
    if one.problem is None or other.problem is None:
        return False
    messages = [problem.message for problem in (one.problem, other.problem)]
    if one.problem.is_raised or other.problem.is_raised:  # behind the type stand words of one's own
        messages = [message.partition(":")[0] for message in messages]
    # All stubs look alike, and so do two failures with the same message.
    return one.problem.kind == other.problem.kind and messages[0] == messages[1]


def _compare_value(
    name: str,
    wanted: Plain,
    values: Mapping[str, Plain],
    tolerance: float,
    sizes: Mapping[str, Any],
) -> Finding | None:
    if name not in values:
        return Finding(ProblemKind.MISSING, name, f"{name} is missing.")
    value = values[name]
    if isinstance(wanted, np.ndarray):
        return _compare_tensor(name, wanted, value, tolerance, sizes)
    if isinstance(wanted, (bool, str, int, float)) or wanted is None:
        return _compare_scalar(name, wanted, value, tolerance)
    return _compare_nested(name, wanted, value, tolerance, sizes)


def _compare_nested(
    name: str, wanted: Plain, value: Plain, tolerance: float, sizes: Mapping[str, Any]
) -> Finding | None:
    if type(wanted) is not type(value):
        return _wrong_type(name, wanted, value)
    if isinstance(wanted, Other):
        return None if wanted == value else _wrong_type(name, wanted, value)
    ours, theirs = _as_mapping(wanted), _as_mapping(value)
    if list(ours) != list(theirs) and set(ours) != set(theirs):
        return Finding(
            ProblemKind.SHAPE, name, f"{name}: expected {_short(wanted)}, got {_short(value)}."
        )
    for key, item in ours.items():
        finding = _compare_value(f"{name}[{key}]", item, {f"{name}[{key}]": theirs[key]},
                                 tolerance, sizes)  # fmt: skip
        if finding is not None:
            return finding
    return None


def _as_mapping(value: Plain) -> dict[str, Plain]:
    if isinstance(value, dict):
        return {repr(key): item for key, item in value.items()}
    return {str(i): item for i, item in enumerate(cast("list[Plain]", value))}


def _compare_tensor(
    name: str, wanted: Array, value: Plain, tolerance: float, sizes: Mapping[str, Any]
) -> Finding | None:
    if not isinstance(value, np.ndarray):
        return _wrong_type(name, wanted, value)
    if wanted.shape != value.shape:
        letters = _letters(wanted.shape, sizes), _letters(value.shape, sizes, once=True)
        says = f"{name}: expected shape {wanted.shape}{letters[0]}, got {value.shape}{letters[1]}."
        return Finding(ProblemKind.SHAPE, name, says)
    if wanted.dtype != value.dtype:
        return _compare_types(name, wanted, value, tolerance)
    return _compare_entries(ProblemKind.VALUES, name, wanted, value, tolerance)


def _compare_types(name: str, wanted: Array, value: Array, tolerance: float) -> Finding:
    """Report another number type; that is beside the idea if the numbers agree."""
    message = f"{name}: expected dtype {wanted.dtype}, got {value.dtype}."
    kinds = {wanted.dtype.kind, value.dtype.kind}
    if kinds not in ({"f"}, {"i"}):
        return Finding(ProblemKind.DTYPE, name, message)
    with np.errstate(all="ignore"):  # what is too large becomes infinite, and differs
        narrow = wanted.astype(np.float32), value.astype(np.float32)
    rounded = float(np.finfo(str(value.dtype)).eps) * _DIGITS if value.dtype.kind == "f" else 0.0
    wrong = _compare_entries(ProblemKind.VALUES, name, *narrow, max(tolerance, rounded))
    return wrong or Finding(ProblemKind.DTYPE, name, message, demand="the number type kept")


def _compare_entries(
    kind: str, name: str, wanted: Array, value: Array, tolerance: float
) -> Finding | None:
    if all_close(wanted, value, tolerance):
        return None
    far = np.logical_not(close(wanted, value, tolerance))
    if not far.any():
        return None
    unusual = _count_unusual(value, wanted)
    says = f"{name}: {far.sum()} of {far.size} entries differ{unusual}."
    details = tuple(
        f"{name}[{', '.join(map(str, index))}]: "
        + _apart(wanted[tuple(index)], value[tuple(index)])
        for index in np.argwhere(far)[:3]
    )
    return Finding(kind, name, says, details, pictures=_pictures(wanted, value, far))


def _pictures(wanted: Array, value: Array, far: Array) -> tuple[Array, Array] | None:
    if wanted.ndim < 2 or wanted.dtype.kind not in "fb":
        return None
    first = tuple(np.argwhere(far)[0][:-2])  # the first matrix of the batch that differs
    return wanted[first], value[first].copy()  # all of it would stay in memory with a part


def _compare_scalar(name: str, wanted: Plain, value: Plain, tolerance: float) -> Finding | None:
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return _wrong_type(name, wanted, value)
        right = agree_as_numbers(wanted, value, tolerance)
    elif isinstance(wanted, str) and not isinstance(value, str):
        return _wrong_type(name, wanted, value)
    else:
        right = type(value) is type(wanted) and value == wanted
    if right:
        return None
    if name == PREDICTION:
        says = f"got {_short(value)}"
    elif isinstance(wanted, float) and isinstance(value, float):
        says = _apart(wanted, value)
    else:
        says = f"expected {_short(wanted)}, got {_short(value)}"
    if isinstance(wanted, bool) and isinstance(value, bool):
        says = "This should hold, but does not" if wanted else "This holds, but should not"
        return Finding(ProblemKind.VALUES, name, f"{says}: {name}.")
    kind = ProblemKind.DTYPE if name.startswith(DTYPE_OF) else ProblemKind.VALUES
    return Finding(kind, name, f"{name}: {says}.")


def _compare_changed(expected: Observation, got: Observation) -> Finding | None:
    extra = [name for name in got.changed if name not in expected.changed]
    if not extra:
        return None
    message = f"The call changed its input {extra[0]} in place."
    return Finding(ProblemKind.CHANGED, extra[0], message, demand="inputs left alone")


def _compare_gradients(expected: Observation, got: Observation, tolerance: float) -> Finding | None:
    wanted = {k: v for k, v in expected.gradients.items() if isinstance(v, np.ndarray)}
    if not wanted:
        return None
    if got.problem is not None:
        says = f"The results are right, but backward() fails: {got.problem.message}"
        return Finding(ProblemKind.BACKWARD, "", says, line=got.problem.line)
    for name, gradient in wanted.items():
        value = got.gradients.get(name)
        if not isinstance(value, np.ndarray):
            says = f"The results are right, but no gradient reaches {name}."
            return Finding(ProblemKind.GRADIENT, name, says)
        if (value.shape, value.dtype) != (gradient.shape, gradient.dtype):
            says = f"gradient of {name}: expected {_short(gradient)}, got {_short(value)}."
            return Finding(ProblemKind.GRADIENT, name, says)
        finding = _compare_entries(
            "gradient", f"gradient of {name}", gradient, value, tolerance * 10
        )
        if finding is not None:
            return finding
    return None


def _wrong_type(name: str, wanted: Plain, value: Plain) -> Finding:
    if name == PREDICTION:
        kind = "one of the words, in quotes" if isinstance(wanted, str) else "a plain number"
        says = f"{name}: expected {kind}, got {_short(value)}."
    else:
        says = f"{name}: expected {_short(wanted)}, got {_short(value)}."
    return Finding(ProblemKind.NOTHING if value is None else "return", name, says)


def _short(value: Plain) -> str:
    if isinstance(value, np.ndarray):
        return f"a tensor of shape {value.shape}"
    if isinstance(value, Other):
        return value.description
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list) and any(isinstance(one, np.ndarray) for one in value):
        return f"{len(value)} results: {', '.join(map(_short, value[:3]))}"
    text = "".join(_first(_written(value), _MOST_SHOWN + 1))
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _first(parts: Iterator[str], most: int) -> Iterator[str]:
    """Yield parts of a text until it has so many characters."""
    length = 0
    while length < most and (part := next(parts, None)) is not None:
        yield part
        length += len(part)


def _written(value: Plain) -> Iterator[str]:
    """Yield the parts of a value's text one by one: all of it may take minutes to write."""
    if isinstance(value, (np.ndarray, Other)):
        yield _short(value)
    elif isinstance(value, list):
        yield "["
        for number, item in enumerate(value):
            yield ", " * (number > 0)
            yield from _written(item)
        yield "]"
    elif isinstance(value, dict):
        yield "{"
        for number, (key, item) in enumerate(value.items()):
            yield ", " * (number > 0)
            yield f"{key!r}: "
            yield from _written(item)
        yield "}"
    else:
        yield repr(value)


def number(value: Any, digits: int = 4) -> str:
    """Write a number with four significant digits: the same text on every machine."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    return f"{float(value):.{digits}g}"


def _apart(wanted: Any, value: Any) -> str:
    """Write both numbers, with as many digits as it takes to see that they differ."""
    digits = next((n for n in (4, 8) if number(wanted, n) != number(value, n)), 17)
    return f"expected {number(wanted, digits)}, got {number(value, digits)}"


def _letters(shape: tuple[int, ...], sizes: Mapping[str, Any], *, once: bool = False) -> str:
    """Name sizes as the lesson does: (2, 3, 5) becomes " = (B, T, S)" if it is unambiguous.

    Args:
        shape: the sizes.
        sizes: the case's parameters.
        once: give no names if one would appear twice. In a wrong shape, one of the two is a
            coincidence: T + 1 states are not Hd.

    """
    names: dict[int, list[str]] = {}
    for letter, size in sizes.items():
        if isinstance(size, int) and not isinstance(size, bool) and letter[:1].isupper():
            names.setdefault(size, []).append(letter)
    found = [names.get(n, []) for n in shape]
    if not shape or any(len(letters) != 1 for letters in found):
        return ""
    named = [letters[0] for letters in found]
    return "" if once and len(set(named)) < len(named) else f" = ({', '.join(named)})"


def _count_unusual(value: Array, wanted: Array) -> str:
    if value.dtype.kind != "f":
        return ""
    nans = int((np.isnan(value) & ~np.isnan(wanted)).sum())
    return f" ({nans} are NaN)" if nans else ""
