"""An answer that stops with an error is known by its numbers in the cases where it gives any."""

import pytest
import torch

from utils.checks import check
from utils.checks.framework import expected
from utils.checks.framework.exercise import Case, Exercise, Mistake, Probe
from utils.checks.framework.judge import judge
from utils.checks.framework.observe import observe_all

RIGHT = [10.0, 20.0, 30.0]


@pytest.fixture(autouse=True)
def nothing_seen_before(monkeypatch):
    monkeypatch.setattr(expected, "_OWN", {})


def by_place(values):
    """An answer that gives the value at each place; a string stops it with an error of torch's."""

    def answer(place):
        if isinstance(values[place], str):
            getattr(torch.zeros(2), values[place])
        return values[place]

    return answer


def named(answer, mistake):
    cases = tuple(Case(f"place {n}", {"place": n}) for n in range(len(RIGHT)))
    probe = Probe(
        "three_numbers", dict, lambda f, i: {"number": f(i["place"])}, cases, gradient=False
    )
    bank = (Mistake("known", "says", "hint", by_place(mistake)),)
    verdict = judge(
        Exercise(probe, by_place(RIGHT), bank), cases, observe_all(probe, cases, by_place(answer))
    )
    return verdict.mistake.name if verdict.mistake else None


def test_another_error_and_the_same_numbers_where_there_are_any_is_the_same_mistake():
    assert named(["one", 2.0, 30.0], ["other", 2.0, 30.0]) == "known"


def test_other_numbers_are_another_mistake():
    assert named(["one", 2.0, 30.0], ["other", 3.0, 30.0]) is None


def test_a_mistake_that_stops_nowhere_is_another_one():
    assert named(["one", 2.0, 30.0], [1.0, 2.0, 30.0]) is None


def test_where_every_number_is_right_an_error_says_nothing():
    assert named(["one", 20.0, 30.0], ["other", 20.0, 30.0]) is None


def test_a_mistake_that_is_right_where_the_answer_is_right_alone_is_needed():
    assert named(["one", 2.0, 30.0], ["other", 2.0, 3.0]) is None


def test_the_matrix_the_wrong_way_round_is_named_though_the_keys_meet_it_first():
    verdict = check.multiplicative_scores.verdict(
        lambda query, keys, w: (keys @ w @ query.unsqueeze(-1)).squeeze(-1)
    )
    assert verdict.mistake.name == "matrix_transposed"
