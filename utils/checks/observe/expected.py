"""What oracles and known mistakes give, and on which inputs: kept for the next submission."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from utils.checks.combining import made
from utils.checks.exercise import Case, Exercise, Inputs, Probe
from utils.checks.observation import Observation, Problem, ProblemKind
from utils.checks.observe.kept_inputs import keeping
from utils.checks.observe.observe import observe

_OWN: dict[tuple[str, str, str], Observation] = {}
_INPUTS: dict[tuple[str, str, str], Inputs] = {}
_MOST_KEPT = 20_000


def expected_of(exercise: Exercise, case: Case) -> Observation:
    """Return what the oracle gives."""
    return observed(exercise, "", exercise.oracle, case)


def observed(exercise: Exercise, name: str, answer: Any, case: Case) -> Observation:
    """Observe an oracle or a known mistake, and keep the result for the next submission."""
    return _kept(
        exercise, _key(exercise, name, case), case, lambda: keeping(exercise.probe), answer
    )


def results_of(exercise: Exercise, name: str, answer: Any, case: Case) -> Observation:
    """Observe the results of a known mistake, and its gradients only if they are known already.

    Most mistakes are ruled out by their results, and gradients take three times as long.
    """
    key = _key(exercise, name, case)
    if key in _OWN or not exercise.probe.asks_gradients(case):
        return _kept(exercise, key, case, lambda: keeping(exercise.probe), answer)
    key = (*key[:2], f"results of {key[2]}")
    return _kept(
        exercise, key, case, lambda: replace(keeping(exercise.probe), gradient=False), answer
    )


def changed_inputs(
    exercise: Exercise, name: str, change: Callable[[Inputs], Inputs], case: Case
) -> Observation:
    """Observe the oracle's results for a case's inputs after a change that has a name."""

    def inputs(**params: Any) -> Inputs:
        return change(keeping(exercise.probe).inputs(**params))

    key = _key(exercise, f"oracle, {name}", case)
    changed = replace(exercise.probe, inputs=inputs, gradient=False)
    return _kept(exercise, key, case, lambda: changed, exercise.oracle)


def _key(exercise: Exercise, name: str, case: Case) -> tuple[str, str, str]:
    return exercise.id, name, case.key


def _kept(
    exercise: Exercise,
    key: tuple[str, str, str],
    case: Case,
    probe: Callable[[], Probe],
    answer: Any,
) -> Observation:
    if key not in _OWN:
        if len(_OWN) >= _MOST_KEPT:
            _OWN.clear()
        seen = observe(probe(), case, made(answer), trusted=True)
        _OWN[key] = with_facts(exercise, case, seen) or seen
    return _OWN[key]


def forget() -> None:
    """Forget what was observed, so that a measurement starts from nothing."""
    _OWN.clear()
    _INPUTS.clear()


def inputs_of(exercise: Exercise, case: Case) -> Inputs:
    """Return a case's inputs for those that only read them: laws and facts."""
    key = _key(exercise, "inputs", case)
    if key not in _INPUTS:
        if len(_INPUTS) >= _MOST_KEPT:
            _INPUTS.clear()
        _INPUTS[key] = keeping(exercise.probe).make(case.params)
    return _INPUTS[key]


def with_facts(exercise: Exercise, case: Case, seen: Observation | None) -> Observation | None:
    """Put facts about an observation's values in their place, if the exercise compares facts."""
    if exercise.facts is None or seen is None or seen.problem is not None:
        return seen
    try:
        values = exercise.facts(inputs_of(exercise, case), seen.values)
    except (KeyError, ValueError):
        return Observation(
            problem=Problem(ProblemKind.RETURN, "What came back is not what was asked for.")
        )
    return replace(seen, values=values)
