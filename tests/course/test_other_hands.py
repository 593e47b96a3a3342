"""Answers by people who had not seen the bank: right ones earn, wrong ones are named truly."""

import json
from collections.abc import Callable, Iterator

import pytest

from tests.course.lesson_runs import exercise_ids
from tests.course.other_hands import Form, forms, judged
from tests.course.other_hands.judge import BOOK

ALL = list(forms())
RIGHT = [form for form in ALL if form.is_right]
WRONG = [form for form in ALL if not form.is_right]
KNOWN = json.loads(BOOK.read_text())
# Part of the contract: attributes and types that later lessons rely on.
CONTRACT = {"TransformerEncoder-1994", "greedy_decode-1150"}
# A gradient that only an empty row shows.
STRICT = {"MultiHeadAttention-1281"}
each_exercise = pytest.mark.parametrize("exercise", exercise_ids())


def failing(found: list[Form], exercise: str, holds: Callable[[Form], bool]) -> list[str]:
    """The answers to an exercise, by exercise and line of their file, that do not hold."""
    return [form.id for form in found if form.exercise == exercise and not holds(form)]


def named() -> Iterator[tuple[Form, str]]:
    """The wrong answers that are told a cause, with its name."""
    for form in WRONG:
        if (mistake := judged(form).mistake) is not None:
            yield form, mistake.name


@pytest.mark.table
@each_exercise
def test_right_answers_earn_all_points(exercise):
    def earns(form: Form) -> bool:
        verdict = judged(form)
        return verdict.idea_is_right and (verdict.passed or form.id in STRICT)

    assert not failing([f for f in RIGHT if not f.demands], exercise, earns)


@pytest.mark.table
@each_exercise
def test_right_ideas_without_the_demands_earn_at_least_four_fifths(exercise):
    asked = [f for f in RIGHT if f.demands and f.id not in CONTRACT]
    assert not failing(asked, exercise, lambda form: judged(form).earned >= 0.8)


@pytest.mark.table
@each_exercise
def test_wrong_answers_lose_points(exercise):
    assert not failing(WRONG, exercise, lambda form: not judged(form).passed)


@pytest.mark.table
@each_exercise
def test_each_named_cause_was_judged_by_a_person(exercise):
    def is_known(form: Form) -> bool:
        mistake = judged(form).mistake
        return mistake is None or mistake.name in KNOWN.get(form.id, {})

    unknown = failing(WRONG, exercise, is_known)
    assert not unknown, "run python -m tests.course.other_hands.judge"


@pytest.mark.whole
def test_named_causes_are_true_as_far_as_a_person_judged_them():
    verdicts = [KNOWN.get(form.id, {}).get(name) for form, name in named()]
    assert verdicts.count(True) >= 0.92 * len(WRONG)
    assert verdicts.count(False) <= 3


def test_there_are_four_right_and_several_wrong_answers_to_each_exercise():
    for exercise in exercise_ids():
        least = 1 if exercise.startswith("predict_") else 4
        assert sum(f.exercise == exercise for f in RIGHT) >= least, exercise
        assert sum(f.exercise == exercise for f in WRONG) >= 3, exercise
    assert sum(len(f.causes) == 2 for f in WRONG) >= 500
