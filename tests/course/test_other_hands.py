"""Answers by people who had not seen the bank: right ones earn, wrong ones are named truly."""

import json

import pytest

from tests.course.lesson_runs import exercise_ids
from tests.course.other_hands import Form, forms, judged
from tests.course.other_hands.judge import BOOK

ALL = list(forms())
RIGHT = [form for form in ALL if form.is_right]
WRONG = [form for form in ALL if not form.is_right]
# Part of the contract: attributes and types that later lessons rely on.
CONTRACT = {"TransformerEncoder-1994", "greedy_decode-1150"}
# A gradient that only an empty row shows.
STRICT = {"MultiHeadAttention-1281"}


def identified(found: list[Form]) -> list[object]:
    return [pytest.param(form, id=form.id) for form in found]


@pytest.mark.parametrize("form", identified([f for f in RIGHT if not f.demands]))
def test_a_right_answer_earns_all_points(form):
    verdict = judged(form)
    assert verdict.idea_is_right
    assert verdict.passed or form.id in STRICT


@pytest.mark.parametrize("form", identified([f for f in RIGHT if f.demands]))
def test_a_right_idea_without_the_demands_earns_at_least_four_fifths(form):
    if form.id not in CONTRACT:
        assert judged(form).earned >= 0.8


@pytest.mark.parametrize("form", identified(WRONG))
def test_a_wrong_answer_loses_points(form):
    assert not judged(form).passed


def test_named_causes_are_true_as_far_as_a_person_judged_them():
    book = json.loads(BOOK.read_text())
    named = {f.id: v.mistake.name for f in WRONG if (v := judged(f)).mistake is not None}
    unknown = {form: name for form, name in named.items() if name not in book.get(form, {})}
    assert not unknown, "run python -m tests.course.other_hands.judge"
    verdicts = [book[form][name] for form, name in named.items()]
    assert verdicts.count(True) >= 0.9 * len(WRONG)
    assert verdicts.count(False) <= 0.01 * len(WRONG)


def test_there_are_four_right_and_several_wrong_answers_to_each_exercise():
    for exercise in exercise_ids():
        least = 1 if exercise.startswith("predict_") else 4
        assert sum(f.exercise == exercise for f in RIGHT) >= least, exercise
        assert sum(f.exercise == exercise for f in WRONG) >= 3, exercise
    assert sum(len(f.causes) == 2 for f in WRONG) >= 500
