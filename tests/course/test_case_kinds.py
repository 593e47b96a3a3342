"""What is shown holds every kind of question that is hidden: nobody loses points unwarned."""

import pytest

from grader.reading.plan import cases_of
from tests.course.case_kinds import kinds
from tests.course.lesson_runs import exercise_ids, lesson_of
from utils.checks.exercise import case


def kinds_of(exercise, *, hidden):
    cases = cases_of(lesson_of(exercise), exercise)
    return set().union(*(kinds(one) for one in cases if one.hidden == hidden))


@pytest.mark.parametrize("exercise", exercise_ids())
def test_every_hidden_kind_of_case_is_visible_too(exercise):
    assert not kinds_of(exercise, hidden=True) - kinds_of(exercise, hidden=False)


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"T": 4, "Dk": 3, "mask": "causal"}, ("mask", "causal, as many queries as keys")),
        (
            {"T": 4, "S": 5, "Dk": 3, "mask": "causal"},
            ("mask", "causal, not as many queries as keys"),
        ),
        ({"lengths": [3, 0]}, ("lengths", "an empty one")),
        ({"text": ["", ""]}, ("text", "nothing but empty ones")),
        ({"script": [4, 4, 3], "max_len": 9, "bos": 2}, ("script", "the same twice in a row")),
        ({"script": [4, 5, 4], "max_len": 9, "bos": 2}, ("script", "the same twice")),
        ({"dtype": "float64"}, ("dtype", "float64")),
        ({"B": 1}, ("B", "1")),
        ({"max_len": 2100}, ("max_len", "thousands")),
        ({"spare": None}, ("spare", "None")),
        ({"bias": False}, ("bias", "False")),
        ({"step": -3}, ("step", "below zero")),
    ],
)
def test_a_kind_is_read_off_the_parameters(params, kind):
    assert kind in kinds(case("any", **params))


def test_a_demand_is_a_kind_and_sizes_of_one_class_are_not_two():
    assert ("demand", "no loop") in kinds(case("any", demand="no loop"))
    assert kinds(case("any", B=3, T=5)) == kinds(case("any", B=7, T=90))
