"""An answer that does one step too many is told which one, and on what."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.checks import check
from utils.checks.exercise import Case, Exercise, Probe
from utils.checks.explain.seen.changes import changes
from utils.checks.judge import judge
from utils.checks.observe import expected
from utils.checks.observe.observe import observe_all
from utils.reference.attention.torch_attention import reference_attention
from utils.reference.recurrent_cell import reference_cell


def named(exercise, answer):
    verdict = getattr(check, exercise).verdict(answer)
    return verdict.mistake.message if verdict.mistake else ""


def products(a, b):
    return a @ b.mT


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda a, b: products(a, b.flip(1)), "reversed along axis 2"),
        (lambda a, b: products(a, b).cumsum(1), "added up along axis 1 (a running sum)"),
        (lambda a, b: products(a, b).softmax(-2), "put through a softmax over its last axis but"),
        (lambda a, b: products(a, b).sort(1).values, "sorted along axis 1, from small to large"),
        (
            lambda a, b: F.normalize(products(a, b), dim=-1),
            "scaled to the same length along",
        ),
        (lambda a, b: products(a, b) * 0 + products(a, b).mean(1, True), "its mean along axis 1"),
    ],
)
def test_what_is_done_to_the_right_result_is_told(answer, words):
    message = named("pairwise_dot", answer)
    assert message.startswith("The result `products` is the right one, but ")
    assert words in message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda h: F.normalize(h, dim=-1),
            "`h` were scaled to the same length along its last",
        ),
        (lambda h: h.flip(0), "`h` were reversed along axis 0"),
        (lambda h: h - h.mean(1, True), "`h` were centred along axis 1 (its mean is subtracted)"),
        (lambda h: 2 * h, "`h` were doubled"),
        (lambda h: h.relu(), "`h` were put through a ReLU"),
    ],
)
def test_what_is_done_to_an_input_first_is_told(change, words):
    def cell(x_t, h, *weights):
        return reference_cell(x_t, change(h), *weights)

    assert named("rnn_cell", cell).startswith(f"Your code behaves as if {words}")


def test_an_input_in_a_module_is_told_by_its_name():
    class Positions(nn.Module):
        def __init__(self, d_model, max_len, dropout=0.0):
            super().__init__()
            self.weight = nn.Parameter(0.02 * torch.randn(max_len, d_model))
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            if x.shape[1] > len(self.weight):
                raise ValueError("too long")
            return self.dropout(x + self.weight[: x.shape[1]].tanh())

    assert "`weight` were put through a tanh" in named("LearnedPositionalEncoding", Positions)


@pytest.mark.parametrize(
    "answer",
    [
        lambda a, b: products(a, b) ** 3,  # no step of those that are tried
        lambda a, b: products(a, b).cumsum(1) if len(a) > 1 else products(a, b) + 1,
        lambda a, b: products(a, b).cumsum(1) if len(a) == 1 else products(a, b) + 1,
        lambda a, b: products(a.flip(1), b) if len(a) == 1 else products(a, b) + 1,
        lambda a, b: products(a, b) if a.shape[1] > 1 else products(a, b) + 1,
    ],
)
def test_what_is_no_such_step_in_every_case_is_not_told(answer):
    assert named("pairwise_dot", answer) == ""


def test_a_step_that_changes_nothing_does_not_explain_last_digits():
    def attend(scores, values, mask=None):  # whose weights a log_softmax of the scores would keep
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1).nan_to_num()
        return (weights[:, None] @ values)[:, 0] + 8e-5, weights + 8e-5

    assert named("attend", attend) == ""


def test_two_numbers_of_a_single_case_agree_by_chance():
    def said(wrong):
        cases = tuple(Case(f"place {n}", {"n": n}) for n in range(2))
        right = {0: torch.arange(1.0, 1.0 + len(wrong)), 1: torch.tensor([9.0])}
        given = {0: torch.tensor(wrong), 1: torch.tensor([9.0])}
        probe = Probe("numbers", dict, lambda f, i: {"x": f(i["n"])}, cases, gradient=False)
        exercise = Exercise(probe, right.get, ())
        verdict = judge(exercise, cases, observe_all(probe, cases, given.get))
        return verdict.mistake.message if verdict.mistake else ""

    assert said([2.0, 1.0]) == ""
    expected.forget()  # of an exercise with this name
    assert "reversed" in said([6.0, 5.0, 4.0, 3.0, 2.0, 1.0])


def test_a_gradient_that_is_lost_is_no_step():
    def without_gradient(q, k, v, mask=None):
        with torch.no_grad():
            return reference_attention(q, k, v, mask)

    assert "behaves as if" not in named("scaled_dot_product_attention", without_gradient)


@pytest.mark.parametrize(
    "like",
    [
        torch.randn(4),
        torch.randn(1, 3),
        torch.randn(2, 3, 3),
        torch.ones(2, 1, 3, dtype=torch.bool),
        torch.tensor([[1, 2], [3, 4]]),
    ],
)
def test_each_change_has_a_key_of_its_own_keeps_the_type_and_leaves_the_tensor_alone(like):
    before, seen = like.clone(), list(changes(like))
    assert len({change.key for change in seen}) == len(seen)
    assert {change.of(like).dtype for change in seen} == {like.dtype}
    assert torch.equal(like, before)
    assert all(not change.of(like).is_set_to(like) for change in seen)


def test_what_was_kept_of_one_change_is_not_taken_for_another():
    # In a batch of one fewer changes are tried, so they have other places among all of them.
    for axis in (1, 0):
        says = named(
            "rnn_cell", lambda x_t, h, *w, axis=axis: reference_cell(x_t, h.flip(axis), *w)
        )
        assert f"`h` were reversed along axis {axis}" in says
