"""What holds in all cases of an answer is said where no known mistake explains it."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from utils.checks import check
from utils.checks.explain import EXPLAINERS, bank, in_part, pairs
from utils.checks.explain.seen.across_cases import of_named, of_reach
from utils.checks.observation import Observation


@pytest.fixture(autouse=True)
def no_cause_is_found(monkeypatch):
    left = [one for one in EXPLAINERS if one not in (bank.explain, in_part.explain, pairs.explain)]
    monkeypatch.setattr("utils.checks.explain.EXPLAINERS", left)


def symptoms(answer, exercise):
    return " ".join(getattr(check, exercise).verdict(answer).symptoms)


def cause(answer, exercise):
    return getattr(check, exercise).verdict(answer).mistake.message


def loss(logits, tags):
    return F.cross_entropy(logits.flatten(0, 1), tags.flatten())


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (2.5, "The result `loss` is the right one, but multiplied by 2.5."),
        (1 / math.log(2), "multiplied by 1.443 (1 / ln 2, as with a logarithm to base 2)"),
    ],
)
def test_one_factor_in_every_case_is_told_with_its_usual_origin(factor, says):
    assert says in cause(lambda logits, tags: factor * loss(logits, tags), "token_loss")


def test_a_factor_that_is_a_size_is_told_by_its_name():
    def by_the_depth_too(x, mask):
        kept = mask[..., None].expand_as(x)
        return (x * kept).sum(1) / kept.sum((1, 2)).clamp(min=1)[:, None]

    said = cause(by_the_depth_too, "masked_mean")
    assert said == "The result `mean` is the right one, but multiplied by 1 / D."


def test_inputs_without_a_part_in_the_result_are_told():
    some, none = np.ones(2), np.zeros(2)
    expected = Observation(gradients={"query": some, "keys": some, "w": some, "mask": none})
    seen = Observation(gradients={"query": some, "keys": None, "w": None, "mask": None})
    (said,) = of_reach(expected, seen)
    assert said.startswith("No gradient reaches keys and w: not used, or something")
    assert not list(of_reach(expected, expected))


def test_a_result_that_leaves_the_range_of_the_right_ones_is_told_how_far():
    def outside(x_t, h, w_x, w_h, b):
        return torch.tanh(x_t @ w_x.T) + torch.tanh(h @ w_h.T) + b

    said = symptoms(outside, "rnn_cell")
    assert "the right values stay between -1 and 1 in these cases" in said


def test_a_loss_that_is_wrong_one_way_everywhere_is_told_which_way():
    said = symptoms(lambda logits, tags: loss(logits, tags) ** 2 + 1, "token_loss")
    assert "Wherever loss is wrong, it is too large." in said


@pytest.mark.parametrize(
    ("got", "says"),
    [
        ({"a": 1, "b": 5}, "Of counts, right: 'a'; wrong: 'b'."),
        ({"a": 1}, "counts lacks 'b'."),
        ({"a": 1, "b": 2, "c": 3}, "counts has 'c' too many."),
        ({"a": 1, "c": 3}, "counts lacks 'b' and has 'c' too many."),
        ({1: "a", 2: "b"}, "counts is the wrong way round: keys and values are swapped."),
    ],
)
def test_of_results_with_names_the_right_the_missing_and_the_spare_are_told(got, says):
    assert list(of_named("counts", {"a": 1, "b": 2}, got)) == [says]


def test_a_single_right_result_is_not_compared_by_names():
    assert list(of_named("counts", {"a": 1}, {"a": 1})) == []
