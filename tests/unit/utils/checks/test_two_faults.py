"""Two faults at once: built from choices, or found by the result that each spoils."""

import math

import torch
from torch import nn

from utils.checks import check
from utils.checks.combining import both, by_choices
from utils.checks.judge import judge
from utils.checks.observe.observe import observe
from utils.checks.registry import exercises, with_mistakes


@by_choices
def counter(*, start=0, sign=1, step=1):
    return lambda n: sign * (start + step * n)


def test_two_variants_of_one_builder_are_built_together():
    made = both(counter(sign=-1), counter(start=3))
    assert [made(n) for n in range(3)] == [-3, -4, -5]


def test_two_variants_that_choose_alike_or_nothing_are_not_built_together():
    assert both(counter(start=3), counter(start=4)) is None
    assert both(counter(), counter(start=4)) is None
    assert both(lambda n: n, counter(start=4)) is None
    assert both(3.0, counter(start=4)) is None


def test_two_variants_of_one_sibling_are_built_together():
    made = both(counter(sign=-1, start=3), counter(sign=-1, step=2))
    assert [made(n) for n in range(3)] == [-3, -5, -7]
    assert both(counter(sign=-1), counter(sign=-1, step=2)) is None


def rotated_halves_backwards(x, base=10000.0):
    """Turn pairs (i, i + Dh/2), and the wrong way round."""
    half = x.shape[-1] // 2
    angles = [[p * base ** (-i / half) for i in range(half)] for p in range(x.shape[-2])]
    cos = x.new_tensor([[math.cos(a) for a in row] for row in angles])
    sin = x.new_tensor([[math.sin(a) for a in row] for row in angles])
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos + b * sin, b * cos - a * sin], -1)


def test_two_known_mistakes_at_once_are_both_named():
    verdict = check.rotary_embedding.verdict(rotated_halves_backwards)
    assert {verdict.mistake.name, verdict.second.name} == {"turned_the_other_way", "two_halves"}


def test_two_patches_that_are_no_code_together_stop_no_check():
    said = {"message": "It is wrong.", "hint": "Look again."}
    tripled = {"patch": ["a @", "(a @", ")", ")) * 3"], **said}
    raised = {"patch": ["a @", "(a @", "\n", ") + 5\n"], **said}  # one bracket opens for both
    exercise = with_mistakes(exercises()["pairwise_dot"], {"tripled": tripled, "raised": raised})
    probe = exercise.probe
    seen = [observe(probe, c, lambda a, b: (a @ b.mT).exp(), trusted=True) for c in probe.cases]
    assert judge(exercise, probe.cases, seen).notes == ()


def test_a_mistake_in_one_result_is_named_although_another_result_is_wrong_too():
    def answer(q, k, v, mask=None):
        scores = q @ k.mT  # not divided
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e30)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return (weights @ v).cos(), weights

    verdict = check.scaled_dot_product_attention.verdict(answer)
    assert verdict.mistake.name == "no_scaling"


def test_a_missed_demand_does_not_hide_the_cause():
    def answer(q, k, v, mask=None):
        scores = q @ k.mT  # not divided, and an empty row gives NaN
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1)
        return weights @ v, weights

    assert check.scaled_dot_product_attention.verdict(answer).mistake.name == "no_scaling"


def test_two_mistakes_that_change_one_anothers_results_are_both_named():
    def rotary(x, base=10000.0):
        rates = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
        angles = torch.arange(1, x.shape[-2] + 1)[:, None] * rates
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos + b * sin, b * cos - a * sin], -1).flatten(-2)

    verdict = check.rotary_embedding.verdict(rotary)
    named = {m.name for m in (verdict.mistake, verdict.second) if m is not None}
    assert named == {"counted_from_one", "turned_the_other_way"}


class Positions(nn.Module):
    """Learned positions whose end is checked wrongly, with a dropout on the words alone."""

    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] >= len(self.weight):
            raise ValueError(f"{x.shape[1]} words are one too many for {len(self.weight)} rows")
        return self.dropout(x) + self.weight[: x.shape[1]]


def test_of_two_pairs_the_one_that_explains_the_other_demands_too_is_named():
    verdict = check.LearnedPositionalEncoding.verdict(Positions)
    named = {m.name for m in (verdict.mistake, verdict.second) if m is not None}
    assert named == {"max_len_refused", "dropout_before_the_sum"}


class Attention(nn.Module):
    """Attention without w_o and with softmax over the queries, all zero where a key is blocked."""

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} features, {n_heads} heads")
        self.n_heads, self.dropout = n_heads, nn.Dropout(dropout)
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for layer, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(1), -torch.inf)
        weights = scores.softmax(-2).nan_to_num(0.0)
        return (self.dropout(weights) @ v).transpose(1, 2).flatten(-2), weights


def test_a_third_fault_in_some_cases_does_not_hide_two():
    verdict = check.MultiHeadAttention.verdict(Attention)
    named = {m.name for m in (verdict.mistake, verdict.second) if m is not None}
    assert named == {"softmax_over_queries", "no_output_projection"}
