"""A sentence on what matters is shown: one thing is changed, all else equal, or it is not said."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from tests.course.lesson_runs import lesson_of
from utils.checks import check
from utils.checks.compare.compare import Finding
from utils.checks.exercise import Case, Setting
from utils.checks.explain.asked import seen_twice as module
from utils.checks.explain.asked.one_setting import one_setting
from utils.checks.explain.asked.seen_twice import seen_twice
from utils.checks.explain.known.agreeing import Judged
from utils.checks.explain.situation import Situation
from utils.checks.observation import Observation, ProblemKind
from utils.checks.registry import exercises
from utils.checks.verdict import CaseResult
from utils.reference.attention.torch_attention import reference_attention

WRONG = Finding(ProblemKind.VALUES, "x", "")
SETTINGS = {"deep": Setting(1, "with several layers", "with one layer")}
ONE_LAYER = "The same call with one layer is right: look at what happens with several layers."


def graded(name, answer):
    """Judge an answer as grading does, hidden cases included."""
    exercise = next(e for e in lesson_of(name).exercises if e.id == name)
    return getattr(check, name).verdict(answer, points=1.0, hidden=exercise.hidden)


def in_grading(*cases):
    """What is said of pairs (parameters, whether they are right); the last one is shown."""
    judged = [
        Judged(CaseResult(Case(str(n), params), None if right else WRONG), None)
        for n, (params, right) in enumerate(cases)
    ]
    exercise = replace(exercises()["attend"], settings=SETTINGS)
    return list(one_setting(Situation(exercise, judged, judged[-1], judged[-1])))


def test_in_grading_a_setting_is_told_where_the_cases_hold_a_pair_that_differs_in_it_alone():
    assert in_grading(({"deep": 1, "B": 2}, True), ({"deep": 3, "B": 2}, False)) == [ONE_LAYER]


def test_in_grading_nothing_is_told_of_cases_that_differ_in_more():
    assert in_grading(({"deep": 1, "B": 2}, True), ({"deep": 3, "B": 4}, False)) == []


def test_a_setting_is_not_told_where_its_plainest_value_is_wrong_too():
    assert in_grading(({"deep": 1, "B": 2}, False), ({"deep": 3, "B": 2}, False)) == []


def blind_to(kind, fault):
    """An attention that is wrong only for masks, or only for several sentences."""

    def answer(q, k, v, mask=None):
        output, weights = reference_attention(q, k, v, mask)
        is_at_fault = mask is not None if kind == "mask" else len(q) > 1
        return (fault(output) if is_at_fault else output), weights

    return answer


@pytest.mark.parametrize("fault", [torch.sin, lambda x: x.abs().sqrt(), lambda x: x + x.roll(1, 1)])
@pytest.mark.parametrize(("kind", "says"), [("mask", "without a mask"), ("B", "with one sentence")])
def test_the_one_setting_that_an_answer_stumbles_over_is_told(kind, says, fault):
    said = check.scaled_dot_product_attention.verdict(blind_to(kind, fault)).symptoms
    assert any(one.startswith(f"The same call {says} is right") for one in said)


def test_an_answer_that_is_wrong_whatever_is_set_is_told_of_no_setting():
    def answer(q, k, v, mask=None):
        output, weights = reference_attention(q, k, v, mask)
        return output.sin(), weights

    said = check.scaled_dot_product_attention.verdict(answer).symptoms
    assert not any("The same call" in one for one in said)


@pytest.mark.parametrize("wrong_at", [9, 10])
def test_a_case_that_is_wrong_for_its_sizes_is_not_called_one_of_memory(wrong_at):
    right = exercises()["rotary_embedding"].oracle

    def rotary(x, base=10000.0, offset=0):
        turned = right(x, base, offset)
        return turned.sin() if wrong_at in x.shape else turned

    verdict = check.rotary_embedding.verdict(rotary)
    assert not verdict.passed
    assert verdict.mistake is None or verdict.mistake.name != "remembers_an_earlier_call"


def test_a_result_that_is_kept_for_its_sizes_is_still_called_memory():
    right = exercises()["rotary_embedding"].oracle
    kept = {}

    def rotary(x, base=10000.0, offset=0):
        return kept.setdefault((x.shape, base, offset), right(x, base, offset))

    assert check.rotary_embedding.verdict(rotary).mistake.name == "remembers_an_earlier_call"


def rate(step, d_model, warmup):
    if step < 1:
        raise ValueError("step is at least 1")
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@pytest.mark.parametrize("ignored", ["d_model", "warmup"])
def test_a_number_is_told_which_argument_it_does_not_depend_on(ignored):
    def blind(step, d_model, warmup):
        given = {"step": step, "d_model": d_model, "warmup": warmup, ignored: 77}
        return rate(**given) ** 1.01

    said = check.noam_rate.verdict(blind).symptoms
    assert f"The result does not change when `{ignored}` does: `{ignored}` has no effect." in said
    assert not any(f"`{other}` has no" in one for one in said for other in ("step",))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda step: max(1, step - 1), "one less, but never below 1"),
        (lambda step: step + 1, "one more"),
        (lambda step: 2 * step, "doubled"),
    ],
)
def test_a_number_that_is_changed_first_is_named_in_the_notebook_and_in_grading(change, words):
    def answer(step, d_model, warmup):
        return rate(step, d_model, warmup) if step < 1 else rate(change(step), d_model, warmup)

    here, there = check.noam_rate.verdict(answer).mistake, graded("noam_rate", answer).mistake
    assert here == there
    assert here.name != "input_changed_first" or words in here.message


@pytest.mark.parametrize("low", [-1e9, -math.inf, float(torch.finfo(torch.float32).min)])
def test_numbers_to_be_added_in_the_place_of_truth_values_are_named(low):
    def additive(lengths, max_len):
        allowed = torch.arange(max_len) < lengths[:, None]
        return torch.zeros(allowed.shape).masked_fill(~allowed, low)[:, None]

    name = check.padding_mask.verdict(additive).mistake.name
    assert name == graded("padding_mask", additive).mistake.name == "added_for_true"


def test_a_reshape_in_the_place_of_a_transpose_is_named():
    def scores(query, keys, w_q, w_k, v):
        asked = query @ w_q.reshape(w_q.shape[1], w_q.shape[0])
        return torch.tanh(asked[:, None] + keys @ w_k.T) @ v

    assert "reshape" in check.additive_scores.verdict(scores).mistake.message
    assert "reshape" in graded("additive_scores", scores).mistake.message


def test_an_input_that_is_added_to_the_right_result_is_named():
    class Norm(nn.Module):
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))
            self.eps = eps

        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            spread = (centred.square().mean(-1, keepdim=True) + self.eps).sqrt()
            return x + self.weight * centred / spread + self.bias

    message = check.LayerNorm.verdict(Norm).mistake.message
    assert message == "The result `output` is the right one, but with `x` added."


def said_twice(first, other, right):
    """What is said of places, where the first failing case and another one have these results."""
    cases = [Case("first", {"T": 4}), Case("other", {"T": 5})]
    exercise = exercises()["attend"]
    judged = [
        Judged(CaseResult(case, WRONG), Observation({"x": got}))
        for case, got in zip(cases, (first, other), strict=True)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "expected_of", lambda *_: Observation({"x": right}))
        return list(seen_twice(Situation(exercise, judged, judged[0], judged[0]), wrong_rows))


def wrong_rows(wanted, got, _sizes):
    yield from (f"row {n} is wrong" for n in np.flatnonzero((wanted != got).any(-1)))


def test_a_place_is_told_where_another_failing_case_shows_it_too():
    right = np.zeros((3, 2))
    first, other = right.copy(), right.copy()
    first[1], other[1] = 7, 8
    assert said_twice(first, other, right) == ["row 1 is wrong"]


def test_a_place_that_is_another_one_in_another_case_is_not_told():
    right = np.zeros((3, 2))
    first, other = right.copy(), right.copy()
    first[1], other[2] = 7, 8
    assert said_twice(first, other, right) == []


def test_a_place_that_no_other_case_can_show_is_not_told():
    right = np.zeros((3, 2))
    first = right.copy()
    first[1] = 7
    assert said_twice(first, right, right) == []


@pytest.mark.parametrize("lost", ["nan_to_num", "where", "masked"])
def test_what_a_notebook_names_grading_names_where_nan_is_replaced_by_zero(lost):
    def softmax(x, dim=-1):
        powers = x.exp()
        shares = powers / powers.sum(dim, keepdim=True)
        if lost == "nan_to_num":
            return shares.nan_to_num(0.0)
        if lost == "where":
            return torch.where(shares.isnan(), torch.zeros_like(shares), shares)
        return shares.masked_fill(shares.isnan(), 0.0)

    here, there = check.stable_softmax.verdict(softmax), graded("stable_softmax", softmax)
    assert here.mistake is not None
    assert there.mistake == here.mistake


def test_an_argument_without_effect_in_one_case_alone_is_not_said_to_have_none():
    def falls_to_zero(step, d_model, warmup):
        left = max(0.0, 1 - (step / warmup - 1) / 7)  # zero in the case that is shown
        return d_model**-0.5 * min(left * warmup**-0.5, step * warmup**-1.5)

    said = check.noam_rate.verdict(falls_to_zero).symptoms
    assert said and not any("has no effect" in one for one in said)
