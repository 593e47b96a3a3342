"""True sentences that narrow a fault down, if no known mistake explains an answer.

Each is measured on what was observed: the case shown, and which cases pass. The most telling come
first, and a student sees two of them.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from utils.checks.compare.closeness import close, has_no_number, nearly
from utils.checks.compare.compare import PREDICTION, identical, number
from utils.checks.exercise import Exercise, ExerciseKind
from utils.checks.explain.asked.experiments import experiments
from utils.checks.explain.asked.one_setting import one_setting
from utils.checks.explain.asked.seen_twice import seen_twice
from utils.checks.explain.known.agreeing import Judged
from utils.checks.explain.seen.across_cases import of_all_cases, of_named, of_reach
from utils.checks.explain.seen.entries_seen import of_flags, of_no_number, of_shares
from utils.checks.explain.seen.places import of_places, of_repeats
from utils.checks.explain.seen.plain_results import of_facts, of_renamed, of_wrapped
from utils.checks.explain.seen.structure import of_diagonals, of_results, of_structure
from utils.checks.explain.situation import Explanation, Situation
from utils.checks.observation import Array, Observation, ProblemKind
from utils.checks.observe.expected import expected_of, inputs_of
from utils.words import axes, counted, share

MOST = 2
SEVERAL = 2  # cases, of which some can be right and others wrong
Sentences = Iterator[str]
_LATER = " after "  # in the name of a result that is asked for twice
_IN_TRAIN = " in train mode, before dropout"
_NEARLY_RIGHT = (
    "At the sizes of these cases {} is right except for its last digits. Usual causes are an "
    "epsilon, rounding, a difference in place of a derivative, or a number type with fewer digits."
)
_NEAR = "Close, but not close enough: give more digits."
_BOTH_ERRORS = re.compile(r"\w+Error(\w+Error|Exception)")


def explain(situation: Situation) -> Explanation:
    """Say at most two sentences: how the object behaves, then what was seen of its results."""
    with np.errstate(all="ignore"):  # an answer's numbers may be anything; students see warnings
        found = itertools.chain(experiments(situation), _of_results(situation))
        return Explanation(symptoms=tuple(itertools.islice(dict.fromkeys(found), MOST)))


def _of_results(situation: Situation) -> Sentences:
    exercise, judged, shown = situation.exercise, situation.judged, situation.shown
    finding, seen = shown.result.finding, shown.seen
    if finding is None or seen is None:
        return iter(())
    expected = expected_of(exercise, shown.result.case)
    if exercise.probe.kind == ExerciseKind.PREDICT:  # how far off it is would give it away
        return iter((_NEAR,)) if is_cut(exercise, shown) else _of_prediction(exercise, seen)
    whole = finding.where.partition("[")[0]
    wanted, got = expected.values.get(whole), seen.values.get(whole)
    says_all = _of_shared(expected, seen, whole, exercise.tolerance) or _of_refusal(wanted, got)
    if has_no_number(wanted, got):
        says_all = of_no_number(whole, got, inputs_of(exercise, shown.result.case))
    elif not says_all and _is_near(exercise, judged, whole):
        says_all = _NEARLY_RIGHT.format(whole)
    if says_all:
        return iter((says_all,))
    found: Sentences = itertools.chain(
        _of_train_mode(whole, seen, expected, exercise.tolerance),
        of_named(whole, wanted, got),
        of_wrapped(whole, wanted, got),
        of_renamed(whole, wanted, got),
        of_facts(whole, expected.values, seen.values) if exercise.facts is not None else (),
        of_reach(expected, seen),
        _of_values(expected, seen, whole, exercise.tolerance),
        one_setting(situation) if situation.own is None else (),
        of_results(exercise, judged, finding.where),
        seen_twice(situation, partial(_of_pair, finding.where, exercise.tolerance)),
        of_all_cases(exercise, judged, finding.where),
        of_structure(whole, wanted, got, exercise.tolerance),
    )
    return _or_else(found, lambda: _of_none_right(judged, finding.kind))


def _of_prediction(exercise: Exercise, seen: Observation) -> Sentences:
    """Say how a wrong prediction is made up, where its exercise can read it."""
    says = exercise.read(seen.values.get(PREDICTION)) if exercise.read is not None else ""
    return iter((says,) if says else ())


def _is_near(exercise: Exercise, judged: Sequence[Judged], name: str) -> bool:
    """Return whether a result is right but for its last digits wherever an answer fails."""
    return all(
        nearly(expected_of(exercise, j.result.case).values.get(name), j.seen.values.get(name))
        for j in judged
        if not j.result.passed and j.seen is not None
    )


def _of_shared(expected: Observation, seen: Observation, name: str, tolerance: float) -> str:
    """Say so if a result is right at first, and another one after something else was changed."""
    first, what = name.partition(_LATER)[::2]
    wanted, got = expected.values.get(first), seen.values.get(first)
    if not what or not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray):
        return ""
    if wanted.shape != got.shape or not np.allclose(wanted, got, rtol=tolerance, atol=tolerance):
        return ""
    return (
        f"{first} is right at first, but changes after {what}: tensors are shared. Copy the "
        "numbers into your own (copy_, or load_state_dict without assign)."
    )


def _of_train_mode(
    name: str, seen: Observation, expected: Observation, tolerance: float
) -> Sentences:
    """Say where dropout acts if results that it leaves alone differ in train mode only."""
    first, in_train, _ = name.partition(_IN_TRAIN)
    calm = f"{first} in eval mode"
    wanted, got = expected.values.get(calm), seen.values.get(calm)
    if not in_train or not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray):
        return
    if wanted.shape == got.shape and close(wanted, got, tolerance).all():
        yield (
            f"In eval mode {first} is right, and in train mode it is not: dropout acts on "
            f"something that {first} is made from."
        )


def _or_else(found: Sentences, otherwise: Callable[[], Sentences]) -> Sentences:
    """Return what was found or, if that is nothing, something else."""
    first = next(found, None)
    return otherwise() if first is None else itertools.chain([first], found)


def _of_none_right(judged: Sequence[Judged], kind: str) -> Sentences:
    """Say where to begin, if no visible case is right and nothing else is known."""
    shown = [j.result for j in judged if not j.result.case.hidden]
    none_right = len(shown) >= SEVERAL and not any(one.passed for one in shown)
    if kind == ProblemKind.VALUES and none_right:
        yield (
            f"Follow the plainest case, “{shown[0].case.name}”, by hand up to the first "
            "step that differs."
        )


def _of_pair(
    name: str, tolerance: float, wanted: object, got: object, sizes: Mapping[str, Any]
) -> Sentences:
    """Say what a few numbers may show by chance: factors and places."""
    if not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray):
        yield from _of_ratio(name, wanted, got)
    elif wanted.shape == got.shape and wanted.size and wanted.dtype.kind in "fib":
        if wanted.dtype.kind != "b":
            yield from _of_factor(name, wanted, got, tolerance)
            yield from of_repeats(name, wanted, got, sizes)
        yield from of_places(name, wanted, got, tolerance, sizes)
        yield from of_diagonals(name, wanted, got, tolerance)


def _of_values(expected: Observation, seen: Observation, name: str, tolerance: float) -> Sentences:
    wanted, got = expected.values.get(name), seen.values.get(name)
    if not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray):
        yield from _of_numbers(name, wanted, got)
        return
    if wanted.shape != got.shape:
        yield from _of_shapes(name, wanted, got, tolerance)
    elif wanted.size and wanted.dtype.kind in "fib" and got.dtype.kind in "fib":
        yield from _of_entries(name, wanted, got, tolerance)


def _of_numbers(name: str, wanted: object, got: object) -> Sentences:
    if isinstance(wanted, list) and isinstance(got, list):
        yield from _of_lists(name, wanted, got)
    if not _is_number(wanted) or not _is_number(got):
        return
    one, other = float(cast("float", wanted)), float(cast("float", got))
    if _has_few_digits(one, other):
        yield f"{name} is right, but rounded: return it as it is."


def _of_ratio(name: str, wanted: object, got: object) -> Sentences:
    if not _is_number(wanted) or not _is_number(got):
        return
    ratio = float(cast("float", got)) / float(cast("float", wanted))
    if not ratio:
        return  # a number so small that it vanished
    for part, words in ((ratio, "times what it should be"), (1 / ratio, "of what it should be")):
        if 1.5 < abs(part) < 1000 and abs(part - round(part)) < 1e-4:
            what = number(ratio) if part == ratio else share(round(part))
            yield f"{name} is {what} {words}."


def _of_refusal(wanted: object, got: object) -> str:
    """Say so if a call is refused, as it should be, but by another error."""
    if not isinstance(wanted, str) or not isinstance(got, str):
        return ""
    if not _BOTH_ERRORS.fullmatch(wanted + got):
        return ""
    asked = f"`if ...: raise {wanted}(...)` is asked for"
    if got == "AssertionError":
        return f"It refuses, but with another error: {asked}, and an `assert` raises {got}."
    if got == "Exception":
        return f"It refuses, but with another error: {asked}."
    return f"It fails with {got}, which helps no caller: {asked}, before anything else."


def _is_number(value: object) -> bool:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return plain and math.isfinite(cast("float", value)) and value != 0


def is_cut(exercise: Exercise, shown: Judged) -> bool:
    """Return whether what is shown is the right number with too few digits."""
    finding, seen = shown.result.finding, shown.seen
    if finding is None or seen is None or seen.problem is not None:
        return False
    wanted = expected_of(exercise, shown.result.case).values.get(finding.where)
    got = seen.values.get(finding.where)
    both = _is_number(wanted) and _is_number(got)
    return both and _has_few_digits(float(cast("float", wanted)), float(cast("float", got)))


def _has_few_digits(right: float, got: float) -> bool:
    """Return whether a number is the right one, cut or rounded to the digits that it has."""
    digits = len(f"{got!r}".partition(".")[2].rstrip("0"))
    return abs(right - got) < min(10.0**-digits, abs(right) / 10)


def _of_lists(name: str, wanted: list[Any], got: list[Any]) -> Sentences:
    alike = [identical(a, b) for a, b in zip(wanted, got, strict=False)]
    if not wanted or not got:
        yield f"{name} is empty, and should not be." if wanted else f"{name} should be empty."
    elif wanted == got[::-1] and not all(alike):
        yield f"{name} has the right entries in reverse order."
    elif _is_reordered(wanted, got):
        yield f"{name} has the right entries in another order."
    elif all(alike) and len(got) > len(wanted):
        yield f"{_beginning(name, len(wanted))} right, but it goes on."
    elif all(alike) and len(got) < len(wanted):
        yield f"{_beginning(name, len(got))} right, then it stops too soon."
    elif not all(alike):
        yield f"Entry {alike.index(False)} of {name} is the first that is wrong."


def _beginning(name: str, length: int) -> str:
    many = f"The first {length} entries of {name} are"
    return many if length > 1 else f"The first entry of {name} is"


def _is_reordered(wanted: list[Any], got: list[Any]) -> bool:
    """Return whether a list holds the right entries, each as often as it should."""
    if len(wanted) != len(got):
        return False
    rest = list(got)
    for item in wanted:
        places = (place for place, other in enumerate(rest) if identical(item, other))
        if (place := next(places, None)) is None:
            return False
        del rest[place]
    return True


def _of_shapes(name: str, wanted: Array, got: Array, tolerance: float) -> Sentences:
    if got.ndim == wanted.ndim and sorted(got.shape) == sorted(wanted.shape):
        turned = list(_as_permuted(name, wanted, got, tolerance))
        yield from turned or [
            (f"{name} has the right sizes, but on other axes, and its numbers differ too.")
        ]
    elif got.size == wanted.size and got.ndim == wanted.ndim:
        yield (
            f"{name} has the right number of entries, but split into other axes: look at the steps "
            "that change its form, and at the axes that they name."
        )
    elif got.ndim == wanted.ndim:
        yield from _of_lengths(name, wanted, got, tolerance)
    else:
        word = "fewer" if got.ndim < wanted.ndim else "more"
        yield (
            f"{name} has {counted(got.ndim, 'axis')}, {abs(got.ndim - wanted.ndim)} {word} than "
            "it should: a sum, a mean, a maximum or an index removes an axis; unsqueeze, keepdim "
            "and broadcasting add one."
        )


def _of_lengths(name: str, wanted: Array, got: Array, tolerance: float) -> Sentences:
    """Say which axis is too long or too short, and what is right of it."""
    other = [axis for axis, n in enumerate(wanted.shape) if n != got.shape[axis]]
    if len(other) != 1:
        return
    (axis,), least = other, min(wanted.shape[other[0]], got.shape[other[0]])
    word = "long" if got.shape[axis] > wanted.shape[axis] else "short"
    by = abs(got.shape[axis] - wanted.shape[axis])
    says = f"Axis {axis} of {name} is too {word} by {by}"
    for end, places in (("first", range(least)), ("last", range(-least, 0))):
        mine, right = got.take(places, axis).astype(wanted.dtype), wanted.take(places, axis)
        if close(right, mine, tolerance).all():
            yield f"{says}; its {end} {least} entries are right."
            return
    yield f"{says}, and neither end of it is right as it is."


def _as_permuted(name: str, wanted: Array, got: Array, tolerance: float) -> Sentences:
    for order in itertools.permutations(range(got.ndim)):
        turned = got.transpose(order).astype(wanted.dtype)
        if order == tuple(range(got.ndim)) or turned.shape != wanted.shape:
            continue
        if close(wanted, turned, tolerance).all():
            moved = axes([k for k, n in enumerate(order) if k != n])
            yield f"{name} holds the right numbers with {moved} swapped."


def _of_entries(name: str, wanted: Array, got: Array, tolerance: float) -> Sentences:
    far = np.logical_not(close(wanted, got.astype(wanted.dtype), tolerance))
    if wanted.dtype.kind == "b":
        yield from of_flags(name, wanted, got)
    else:
        yield from _of_nan(name, wanted, got, far)
        yield from _as_permuted(name, wanted, got, tolerance)
        yield from of_shares(name, wanted, got)
    if wanted.dtype.kind == "f" and np.allclose(
        np.sort(wanted, None), np.sort(got, None), tolerance * 10, tolerance * 10
    ):
        yield f"{name} holds the right numbers, in other places."


def _of_nan(name: str, wanted: Array, got: Array, far: Array) -> Sentences:
    lost = ~np.isfinite(got.astype(np.float64)) & np.isfinite(wanted.astype(np.float64))
    if lost.any() and (lost == far).all():
        yield f"All entries of {name} that differ are NaN or infinite; the others are right."
    elif not got.any() and wanted.any():
        yield f"{name} is zero everywhere."
    elif got.size > 1 and np.ptp(got.astype(np.float64)) == 0:
        yield f"{name} is the same number everywhere."


def _of_factor(name: str, wanted: Array, got: Array, tolerance: float) -> Sentences:
    one, other = wanted.astype(np.float64), got.astype(np.float64)
    if not (np.isfinite(one).all() and np.isfinite(other).all()) or one.size < 2:
        return
    at = np.unravel_index(np.abs(one).argmax(), one.shape)
    if one[at]:
        factor = other[at] / one[at]
        if (
            factor
            and number(factor) != "1"
            and np.allclose(other, factor * one, 10 * tolerance, 10 * tolerance)
        ):
            yield f"{name} is right up to a factor: everything is {number(factor)} times as large."
            return
    shift = other[at] - one[at]
    if np.allclose(other, one + shift, 10 * tolerance, 10 * tolerance):
        yield f"{name} is right except that {number(shift)} is added everywhere."
