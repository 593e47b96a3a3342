"""Answers of lessons 02 and 03 that keep something of an earlier call, and random tests."""

import torch
from torch import nn

from tests.course.lesson_runs import lesson_of
from utils.checks import check
from utils.checks.lessons.training.answers.tagging import tagging_oracle
from utils.reference.attention.torch_attention import reference_attention


def verdict_on(answer, exercise):
    entry = next(e for e in lesson_of(exercise).exercises if e.id == exercise)
    return getattr(check, exercise).verdict(answer, points=entry.points, hidden=entry.hidden)


def keeping_masks(key):
    """Attention that keeps the first mask met for each key of the queries' shape."""
    kept = {}

    def attention(q, k, v, mask=None):
        return reference_attention(q, k, v, kept.setdefault(key(q.shape), mask))

    return attention


def test_attention_that_keeps_the_mask_of_its_shape_is_refused():
    assert not verdict_on(keeping_masks(tuple), "scaled_dot_product_attention").passed


class KeepsItsMask(nn.Module):
    """Self-attention that keeps the first mask of each shape, None included."""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q, self.w_k = (nn.Linear(d_model, d_k, bias=False) for _ in range(2))
        self.w_v = nn.Linear(d_model, d_v, bias=False)
        self.attention = keeping_masks(tuple)

    def forward(self, x, mask=None):
        return self.attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)


def test_a_module_that_keeps_the_mask_of_its_first_call_is_refused():
    verdict = verdict_on(KeepsItsMask, "SelfAttention")
    failing = [r.case.name for r in verdict.results if not r.passed]
    assert set(failing) == {"a second call, without a mask", "a second call with another mask"}


def test_masks_cut_from_one_of_64_positions_are_refused():
    largest = torch.ones(1, 64, 64, dtype=torch.bool).tril()
    assert not verdict_on(lambda size: largest[:, :size, :size], "causal_mask").passed
    places = torch.arange(64)
    assert not verdict_on(
        lambda lengths, n: (places[:n] < lengths[:, None])[:, None], "padding_mask"
    ).passed


def by_chance(attention):
    """Decide by numbers that are drawn anew."""
    assert torch.rand(1) < 0.5


def good_but_unseeded(attention):
    """Compare with torch's attention on numbers that are drawn anew."""
    q, k, v = torch.randn(3, 2, 4, 5)
    mask = torch.tensor([[[True, True, False, True]]])
    for allowed in (None, mask):
        for ours, theirs in zip(
            attention(q, k, v, allowed), reference_attention(q, k, v, allowed), strict=True
        ):
            assert torch.allclose(ours, theirs, atol=1e-5)


def test_a_test_that_decides_by_chance_is_refused_and_one_that_draws_numbers_is_not():
    torch.manual_seed(0)
    verdict = verdict_on(by_chance, "test_attention")
    assert "decides by chance" in verdict.first_failure.finding.message
    assert verdict.earned == 0
    assert verdict_on(good_but_unseeded, "test_attention").passed


def test_sentences_that_are_not_read_again_are_not_told_to_be_read_one_by_one():
    known = {}

    def tag_sentences(model, sentences, vocab, tags, batch_size=32):
        new = [s for s in sentences if tuple(s) not in known]
        found = tagging_oracle(model, new, vocab, tags, batch_size)
        known.update(zip(map(tuple, new), found, strict=True))
        return [known[tuple(s)] for s in sentences]

    verdict = verdict_on(tag_sentences, "tag_sentences")
    assert not verdict.passed
    assert verdict.mistake is None
