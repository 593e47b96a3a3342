"""What an answer does with changed inputs is said where the right one does otherwise."""

import math

import pytest
import torch

from utils.checks import check
from utils.checks.explain import EXPLAINERS, bank, in_part, pairs


@pytest.fixture(autouse=True)
def no_cause_is_found(monkeypatch):
    left = [one for one in EXPLAINERS if one not in (bank.explain, in_part.explain, pairs.explain)]
    monkeypatch.setattr("utils.checks.explain.EXPLAINERS", left)


def symptoms(answer, exercise):
    return " ".join(getattr(check, exercise).verdict(answer).symptoms)


def attention(q, k, v, mask=None, weigh=torch.softmax):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = weigh(scores, -1)
    return weights @ v, weights


def test_a_law_that_the_answer_breaks_is_named_with_its_input():
    def squared(x, dim=-1):
        return x**2 / (x**2).sum(dim, keepdim=True)

    said = symptoms(squared, "stable_softmax")
    assert "When 1 is added to all of `x`, the right result stays the same. Not yours." in said


def test_an_answer_in_which_positions_wrongly_meet_is_told_so():
    def over_queries(q, k, v):
        return attention(q, k, v, weigh=lambda s, _: (s * 0.9).softmax(-2))

    said = symptoms(over_queries, "repaired_attention")
    assert "Index 0 along axis 1 of weights changes when the last index along axis 1 of `q`" in said
    assert "and it should not." in said


def test_an_error_that_does_not_depend_on_an_input_is_said_to_be_added():
    def shifted(x_t, h, w_x, w_h, b):
        return torch.tanh(x_t @ w_x.T + h @ w_h.T + b) + torch.arange(len(b)) / 7

    said = symptoms(shifted, "rnn_cell")
    assert "state is off by the same numbers whatever goes in" in said


def test_what_is_added_to_a_wrong_result_is_not_said_to_leave_its_error_alone():
    class MeanDeviation(torch.nn.Module):
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(d_model))
            self.bias = torch.nn.Parameter(torch.zeros(d_model))
            self.eps = eps

        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            spread = centred.abs().mean(-1, keepdim=True) + self.eps
            return self.weight * centred / spread + self.bias

    assert "off by the same numbers" not in symptoms(MeanDeviation, "LayerNorm")


def test_answers_with_huge_numbers_warn_nobody(recwarn):
    symptoms(lambda x, dim=-1: x * 3e38, "stable_softmax")
    assert not [w for w in recwarn if "overflow" in str(w.message)]


def test_nan_is_not_taken_for_something_added():
    def overflowing(x_t, h, w_x, w_h, b):
        doubled = torch.exp(2 * (x_t @ w_x.T + h @ w_h.T + b))
        return (doubled - 1) / (doubled + 1)

    told = " ".join(check.rnn_cell.verdict(overflowing).symptoms)
    assert "off by the same numbers" not in told
    assert "The first NaN comes up" in told


def test_a_law_of_a_fact_is_said_of_that_fact_and_not_of_the_result():
    class SharesOfOne(torch.nn.Module):
        """Heads whose weights add up to one again after dropout."""

        def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
            super().__init__()
            if d_model % n_heads:
                raise ValueError(f"d_model {d_model} is not divisible by {n_heads}")
            self.heads, self.drop = n_heads, torch.nn.Dropout(dropout)
            made = (torch.nn.Linear(d_model, d_model, bias) for _ in range(4))
            self.w_q, self.w_k, self.w_v, self.w_o = made

        def forward(self, query, key, value, mask=None):
            pairs = ((self.w_q, query), (self.w_k, key), (self.w_v, value))
            q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for w, x in pairs)
            scores = q @ k.mT / q.shape[-1] ** 0.5
            allowed = torch.ones_like(scores).bool() if mask is None else mask[:, None]
            weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1).nan_to_num()
            kept = self.drop(weights)
            kept = kept / kept.sum(-1, keepdim=True).clamp(min=1e-9)
            return self.w_o((kept @ v).transpose(1, 2).flatten(2)), weights

    said = symptoms(SharesOfOne, "MultiHeadAttention")
    assert "the right factor on the weights kept stays the same. Not yours." in said
    assert "the right result" not in said
