"""Answers of any form are judged at once, and their points stand whatever can be said of them."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import pytest

from grader.judging import scoring
from grader.judging.outcome import ExerciseResult
from grader.judging.scoring import judge_submission
from grader.reading.plan import cases_of
from grader.sandbox import Ended
from grader.workers.protocol import Message, encode
from tests.course.lesson_runs import lesson_of
from utils.checks.judge import judge
from utils.checks.lessons.encoder.stack_facts import stack_facts
from utils.checks.observation import Observation, Plain
from utils.checks.observe.expected import expected_of
from utils.checks.registry import exercises, probes

MOST_CALLS = 4_000_000  # of Python's and numpy's functions: ten times what they take
LONG = np.random.default_rng(0).standard_normal(1000).astype(np.float16)  # as a text, 5 ms
Change = Callable[[Mapping[str, Plain]], dict[str, Plain]]


def judged(exercise: str, change: Change) -> ExerciseResult:
    """What comes of an exercise whose right values are changed in every case."""
    lesson = lesson_of(exercise)
    seen = [expected_of(exercises()[exercise], case) for case in cases_of(lesson, exercise)]
    messages = tuple(
        encode(Message(exercise, number, Observation(change(one.values), one.gradients)))
        for number, one in enumerate(seen)
    )
    ended = Ended("finished", 0, None, messages, 0.1, 0.1, 0, "")
    found = judge_submission(lesson, ended, {}, [])
    return next(result for result in found.results if result.exercise == exercise)


@contextmanager
def at_once() -> Iterator[None]:
    """What takes few calls: how long they take is the machine's doing."""
    calls = [0]

    def count(_frame: object, event: str, _arg: object) -> None:
        calls[0] += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)
    assert calls[0] < MOST_CALLS


def each(value: Plain) -> Change:
    return lambda values: dict.fromkeys(values, value)


ODD: dict[str, tuple[str, Change]] = {
    "a table of tensors": ("build_vocab", each({"a": LONG, "b": LONG})),
    "a table of lists": ("build_vocab", each({"a": [1], "b": [[]]})),
    "a decision that is a tensor": ("test_padding", each(LONG)),
    "tensors with NaN in a list for whole numbers": ("shift_right", each([np.full(3, np.nan)])),
    "a list with infinity for whole numbers": ("shift_right", each([float("inf")])),
    "a number with more digits than Python counts": ("predict_first_loss", each(1.2e-30)),
    "the smallest number": ("predict_first_loss", each(2.5e-320)),
}


@pytest.mark.parametrize(("exercise", "change"), ODD.values(), ids=ODD)
def test_an_odd_answer_is_wrong_and_explained_without_a_fault_of_ours(exercise, change):
    assert judged(exercise, change).score == 0.0  # a warning of ours would be an error here


SLOW: dict[str, tuple[str, Change]] = {
    "tensors in lists for a tensor": ("stable_softmax", each([[LONG] * 60])),
    "a table of long tensors": ("build_vocab", each({str(n): LONG for n in range(60)})),
    "long tensors in a list of numbers": ("greedy_decode", each([[LONG] * 60] * 2)),
}


@pytest.mark.parametrize(("exercise", "change"), SLOW.values(), ids=SLOW)
def test_no_answer_takes_the_judge_long(exercise, change):
    judged(exercise, dict)  # what is right is computed once
    with at_once():
        assert judged(exercise, change).score == 0.0


def test_a_thousand_layers_are_refused_before_each_is_held_against_each():
    stack = probes()["repaired_stack"]
    inputs = stack.make(stack.cases[0].params)
    values = {
        "outputs": [np.full(2, n, np.float32) for n in range(1000)],
        "separate layers": 1000,
        "parameters": [*map(np.asarray, (inputs["weights"][0], inputs["biases"][0]))] * 500,
    }
    with at_once(), pytest.raises(ValueError, match="layers"):
        stack_facts(inputs, values)


def test_points_stand_where_no_cause_can_be_sought(monkeypatch):
    def fails(exercise, *others, **named):
        if exercise.id == "causal_mask":
            raise ZeroDivisionError("a student's words")
        return judge(exercise, *others, **named)

    monkeypatch.setattr(scoring, "judge", fails)
    with pytest.warns(UserWarning, match="^causal_mask: no cause sought, ZeroDivisionError$"):
        assert judged("causal_mask", dict).score == 1.0
