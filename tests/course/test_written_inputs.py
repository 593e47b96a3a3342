"""An answer that writes into what it is given misses that, and nothing else."""

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.reading.plan import cases_of
from tests.course.lesson_runs import exercise_ids, lesson_of
from utils.checks.case_results import points_alone
from utils.checks.exercise import ExerciseKind
from utils.checks.observe.expected import expected_of
from utils.checks.observe.observe import observe_all
from utils.checks.registry import exercises

CALLED = [
    name
    for name in exercise_ids()
    if exercises()[name].probe.kind not in (ExerciseKind.PREDICT, ExerciseKind.TEST_THE_TEST)
]


@torch.no_grad()
def write_into(given: Iterable[object]) -> None:
    for one in given:
        if isinstance(one, Tensor) and one.dtype == torch.bool:
            one.logical_not_()
        elif isinstance(one, Tensor) and one.is_floating_point():
            one.mul_(-1.5).add_(0.7)


def copied(result: Any) -> Any:
    """A result that shares nothing with what was given."""
    if isinstance(result, tuple):
        return tuple(map(copied, result))
    return result.clone() if isinstance(result, Tensor) else result


def writing(function: Callable[..., Any], skip: int = 0) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        result = copied(function(*args, **named))
        write_into((*args[skip:], *named.values()))
        return result

    return called


@pytest.mark.parametrize("name", CALLED)
def test_a_right_answer_that_overwrites_its_inputs_at_its_end_is_told_that_alone(name: str):
    known = exercises()[name]
    answer: Any = known.oracle
    if inspect.isclass(answer):
        answer = type(answer.__name__, (answer,), {"forward": writing(answer.forward, skip=1)})
    else:
        answer = writing(answer)
    probe = replace(known.probe, forbidden=(), gradient=False)
    cases = cases_of(lesson_of(name), name)
    results = observe_all(probe, cases, answer, quiet=True)
    seen = [
        replace(one, gradients=expected_of(known, case).gradients)  # results alone are looked at
        for case, one in zip(cases, results, strict=True)
    ]
    verdict = points_alone(known, cases, seen)
    kinds = {result.finding.kind for result in verdict.results if result.finding is not None}
    assert kinds <= {"changed"}
