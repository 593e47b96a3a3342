"""Lesson 02's checks on masks as students write them: what is refused, and how it is named."""

import pytest
import torch

from utils.checks import check


def attend(weigh):
    """`attend` with the given way to make weights of scores and a mask."""

    def answer(scores, values, mask=None):
        weights = scores.softmax(-1) if mask is None else weigh(scores, mask)
        return (weights[:, None] @ values)[:, 0], weights

    return answer


def attention(weigh):
    """`scaled_dot_product_attention` with the given way to make weights."""

    def answer(q, k, v, mask=None):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = scores.softmax(-1) if mask is None else weigh(scores, mask)
        return weights @ v, weights

    return answer


def verdicts(weigh):
    return (
        check.attend.verdict(attend(weigh)),
        check.scaled_dot_product_attention.verdict(attention(weigh)),
    )


def names(weigh):
    return {verdict.mistake and verdict.mistake.name for verdict in verdicts(weigh)}


def failing(verdict):
    return [r.case.name for r in verdict.results if not r.passed]


def filled(fill, *, zeroed):
    def weigh(scores, mask):
        weights = scores.masked_fill(~mask, fill).softmax(-1)
        return weights.masked_fill(~mask, 0.0) if zeroed else weights

    return weigh


@pytest.mark.parametrize("fill", [-20.0, -50.0, -100.0, -1000.0])
def test_a_fill_that_scores_can_reach_is_refused_and_named(fill):
    assert names(filled(fill, zeroed=False)) == {"fill_leaves_some_weight"}
    for verdict in verdicts(filled(fill, zeroed=True)):
        assert verdict.mistake.name.endswith("fill_takes_weight_away")


@pytest.mark.parametrize("fill", [-1e9, torch.finfo(torch.float32).min, -torch.inf])
def test_a_fill_below_all_scores_is_right_once_the_weights_are_zeroed(fill):
    assert all(verdict.passed for verdict in verdicts(filled(fill, zeroed=True)))


@pytest.mark.parametrize(
    "zeroed", [lambda w, mask: w.masked_fill(~mask, 0), lambda w, mask: w.nan_to_num(0.0)]
)
def test_a_gradient_of_nan_behind_a_right_result_is_named(zeroed):
    def weigh(scores, mask):
        return zeroed((scores + torch.where(mask, 0.0, -torch.inf)).softmax(-1), mask)

    for verdict in verdicts(weigh):
        assert failing(verdict) == ["a row with nothing allowed"]
        assert "are NaN" in verdict.first_failure.finding.message
        assert verdict.mistake.name == "empty_row_has_a_gradient_of_nan"


def test_nan_to_num_after_a_fill_is_right():
    def weigh(scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0)

    assert all(verdict.passed for verdict in verdicts(weigh))


def test_a_mask_multiplied_by_a_large_number_is_named():
    assert names(lambda s, m: (s + (~m) * -1e9).softmax(-1)) == {"empty_row_lowered_alike"}


@pytest.mark.parametrize("inverse", [lambda m: 1 - m.float(), torch.logical_not])
def test_zero_times_infinity_is_named(inverse):
    assert names(lambda s, m: (s + inverse(m) * -torch.inf).softmax(-1)) == {"zero_times_infinity"}


def test_a_mask_that_comes_too_late_and_is_made_up_for_is_named():
    def weigh(scores, mask):
        kept = scores.softmax(-1) * mask
        return kept / kept.sum(-1, keepdim=True)

    assert names(weigh) == {"divided_by_what_is_left"}


def test_a_fill_that_is_not_kept_is_told_so():
    def weigh(scores, mask):
        scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(-1).masked_fill(~mask, 0.0)

    for verdict in verdicts(weigh):
        assert "masked_fill returns a new tensor" in verdict.mistake.hint


def only_equal(attention):
    """A test that never gives keys and values different numbers."""
    x = torch.eye(3)[None]
    mask = torch.ones(1, 3, 3, dtype=torch.bool).tril()
    for allowed in (None, mask):
        scores = x @ x.mT / 3**0.5
        scores = scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)
        weights = scores.softmax(-1)
        output, got = attention(x, x, x, allowed)
        assert torch.allclose(got, weights, atol=1e-4)
        assert torch.allclose(output, weights @ x, atol=1e-4)


def test_a_test_with_equal_keys_and_values_is_told_what_it_cannot_see():
    verdict = check.test_attention.verdict(only_equal)
    assert failing(verdict) == ["values taken from the keys"]
    assert verdict.mistake.name == "values_not_told_from_keys"


def query_without_axis(query, keys, w_q, w_k, v):
    return torch.tanh(query @ w_q.T + keys @ w_k.T) @ v


def query_with_axis_in_front(query, keys, w_q, w_k, v):
    return torch.tanh(keys @ w_k.T + (query @ w_q.T)[None]) @ v


@pytest.mark.parametrize("form", [query_without_axis, query_with_axis_in_front])
def test_a_query_without_an_axis_for_the_keys_is_named(form):
    verdict = check.additive_scores.verdict(form)
    assert verdict.first_failure.finding.kind == "exception"
    assert verdict.mistake.message.startswith("The query has no axis for the keys")
