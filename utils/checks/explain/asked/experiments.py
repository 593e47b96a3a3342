"""Call a student's own object again, to say how it behaves where no cause was found.

One thing is changed, and all else stays equal. The oracle is called with the same inputs, so what
is said is true of the answer alone. This happens in a student's notebook; grading judges by what
was observed.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import torch

from utils.checks.compare.closeness import has_no_number, nearly
from utils.checks.compare.compare import same_results
from utils.checks.exercise import Case, Inputs
from utils.checks.explain.asked.first_nan import FirstNan
from utils.checks.explain.asked.laws import Calls, Change, broken_laws
from utils.checks.explain.asked.one_setting import one_setting
from utils.checks.explain.asked.own_object import OwnObject, with_change
from utils.checks.explain.situation import Situation
from utils.checks.observation import Observation, Other
from utils.checks.observe.observe import observe
from utils.checks.observe.torch_state import put_random_states, random_states

_DIFFER: Final = "Two calls with the same inputs give different results"
_TWO: Final = 2  # other values: in one a right result may stay the same by chance
_STEPS: Final = 7  # random numbers that are passed over: others then follow


def experiments(situation: Situation) -> Iterator[str]:
    """Say how the student's own object behaves, where it can be asked again."""
    own, case = situation.own, situation.shown.result.case
    return iter(()) if own is None or case.hidden else _experiments(situation, own, case)


def _experiments(situation: Situation, own: OwnObject, case: Case) -> Iterator[str]:
    exercise, finding = situation.exercise, situation.shown.result.finding

    def seen(change: Change) -> Observation:
        return own.observe(exercise.probe, case, change)

    def wanted(change: Change) -> Observation:
        probe = with_change(exercise.probe, change)
        return observe(probe, case, exercise.oracle, trusted=True)

    def differ(one: Observation, other: Observation) -> bool:
        return not same_results(one, other, exercise.tolerance)

    earlier, first, right = seen(dict), seen(dict), wanted(dict)
    if _is_lost(right, first):
        watch = FirstNan()
        own.observe(replace(exercise.probe, call=watch.watched(exercise.probe.call)), case, dict)
        yield from watch.says()
        return
    if first.problem is not None or any(isinstance(x, Other) for x in first.values.values()):
        return
    if differ(earlier, first) or differ(first, seen(dict)):
        if exercise.facts is None:  # where many results are right, they may be drawn
            yield _why_calls_differ(lambda: seen(dict), differ, own)
        return
    if _remembers(situation, own, case, first):
        yield (
            "Your code remembers: after a call with other inputs, the first inputs give other "
            "results."
        )
        return
    where = finding.where if finding is not None else ""
    part = where.partition("[")[0]
    if nearly(right.values.get(part), first.values.get(part)):
        return  # what changes the last digits only would be blamed for more than it does
    yield from one_setting(situation)
    inputs = own.names(exercise.probe.make(case.params))
    others = [c for c in exercise.probe.cases if c != case and not c.hidden]
    for name in inputs:
        if _moves(situation, own, case, name) is False and not any(
            _moves(situation, own, other, name) for other in others
        ):
            yield f"The result does not change when `{name}` does: `{name}` has no effect."
    yield from broken_laws(inputs, Calls(seen, wanted, where, exercise.tolerance))


def _why_calls_differ(
    again: Callable[[], Observation],
    differ: Callable[[Observation, Observation], bool],
    own: OwnObject,
) -> str:
    """Say why two calls with the same inputs differ, if an experiment shows it."""
    states = random_states()
    one, other = (_drawing(states, again) for _ in range(2))
    put_random_states(states)
    for _ in range(_STEPS):
        torch.rand(1), random.random(), np.random.random()
    elsewhere, back = _drawing(random_states(), again), _drawing(states, again)
    if not differ(one, other) and not differ(one, back) and differ(one, elsewhere):
        return f"{_DIFFER}: something in your code is random."
    own.forget()
    once = _drawing(states, again)
    own.forget()
    twice = _drawing(states, again)
    if differ(once, other) and not differ(once, twice):
        return f"{_DIFFER}: something is kept from one call to the next."
    return f"{_DIFFER}."


def _drawing(states: tuple[Any, ...], call: Callable[[], Observation]) -> Observation:
    """Call with these random numbers."""
    put_random_states(states)
    return call()


def _is_lost(right: Observation, got: Observation) -> bool:
    """Return whether a result is NaN where it should not be, or all infinite.

    Nothing would change it.
    """
    pairs = [(wanted, got.values.get(name)) for name, wanted in right.values.items()]
    return any(has_no_number(*pair) or _has_more_nan(*pair) for pair in pairs)


def _has_more_nan(wanted: object, got: object) -> bool:
    right, mine = (np.asarray(x) if isinstance(x, (np.ndarray, float)) else None
                   for x in (wanted, got))  # fmt: skip
    if right is None or mine is None or not right.dtype.kind == mine.dtype.kind == "f":
        return False
    return bool(np.isnan(mine).any() and not np.isnan(right).any())


def _remembers(situation: Situation, own: OwnObject, case: Case, first: Observation) -> bool:
    """Return whether calls for the other cases change what an answer gives for this one."""
    probe, cases = situation.exercise.probe, [one.result.case for one in situation.judged]
    for other in cases:
        if other != case and not other.hidden:
            own.observe(probe, other, dict)
    again = own.observe(probe, case, dict)
    return not same_results(first, again, situation.exercise.tolerance)


def _moves(situation: Situation, own: OwnObject, case: Case, name: str) -> bool | None:
    """Return whether an input of a case moves the answer's result; None if that cannot be told.

    It can where two other values move the right result. In a single case it may be no mistake of
    the code's that an input moves nothing: a rate that has fallen to zero stays there whatever the
    step.
    """
    probe, tolerance = situation.exercise.probe, situation.exercise.tolerance
    inputs = own.names(probe.make(case.params))
    changes = _other_values(name, inputs.get(name))

    def wanted(change: Change) -> Observation:
        oracle = situation.exercise.oracle
        return observe(with_change(probe, change), case, oracle, trusted=True)

    right = wanted(dict)
    found = ((change, wanted(change)) for change in changes)
    telling = [
        change
        for change, one in found
        if not (_is_refused(right) or _is_refused(one) or same_results(right, one, tolerance))
    ]
    if not telling or len(telling) < min(_TWO, len(changes)):
        return None
    first = own.observe(probe, case, dict)
    return any(
        not same_results(first, own.observe(probe, case, change), tolerance) for change in telling
    )


def _is_refused(seen: Observation) -> bool:
    """Return whether a call stops with an error, as it may be asked to: that is no result."""
    return seen.problem is not None or any(isinstance(x, str) for x in seen.values.values())


def _other_values(name: str, value: object) -> list[Change]:
    """Return changes of one input, of the same form; none if it has no numbers to change.

    A norm takes away a number that is added everywhere: each entry gets another one. Ids and
    lengths have ranges that are not known here, so these change places.
    """
    if isinstance(value, bool):
        return [partial(_with, name, not value)]
    if isinstance(value, (int, float)):
        numbers = [times * value or times for times in (2, 3)]
        numbers += [value + 1, value - 1] if isinstance(value, int) else []  # as of a place
        return [partial(_with, name, number) for number in dict.fromkeys(numbers)]
    if not isinstance(value, torch.Tensor) or value.numel() == 0:
        return []
    if value.dtype == torch.bool:
        return [partial(_with, name, ~value)]
    if not value.is_floating_point():
        turned = [value.flip(-1), *(value.roll(1, axis) for axis in range(value.ndim))]
        return [partial(_with, name, other) for other in turned]
    waves = torch.arange(value.numel(), dtype=torch.float32).reshape(value.shape)
    others = [
        value + (1 + value.abs()) * wave.to(value.dtype)
        for wave in (waves.cos(), (2.3 * waves).sin())
    ]
    return [partial(_with, name, other) for other in others]


def _with(name: str, value: object, inputs: Inputs) -> Inputs:
    return {**inputs, name: value}
