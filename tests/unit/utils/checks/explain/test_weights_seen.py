"""What weights tell of the scores that they came from."""

import pytest
import torch

from utils.checks import check
from utils.reference.attention.torch_attention import reference_attention


def attention(change, after=lambda weights: weights):
    """Build an attention that changes its scores, or its weights."""

    def answer(q, k, v, mask=None):
        scores = change(q @ k.mT / q.shape[-1] ** 0.5)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = after(scores.softmax(-1).nan_to_num())
        return weights @ v, weights

    return answer


def named(answer):
    mistake = check.scaled_dot_product_attention.verdict(answer).mistake
    return mistake.message if mistake else ""


def largest(many, *, again=True):
    def kept(weights):
        least = weights.topk(min(many, weights.shape[-1])).values[..., -1:]
        left = weights * (weights >= least)
        return left / left.sum(-1, keepdim=True).clamp(min=1e-9) if again else left

    return kept


@pytest.mark.parametrize("again", [True, False])
def test_the_largest_weights_alone_are_told_with_their_number(again):
    kept = largest(2, again=again)
    assert named(attention(lambda s: s, kept)) == "In each row only the 2 largest weights are left."


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [
        (-0.7, 0.7, "largest and smallest"),
        (None, 0.5, "largest"),
        (-0.3, None, "smallest"),
        (0.0, None, "smallest"),
    ],
)
def test_scores_that_are_cut_off_are_told_at_which_end(low, high, ends):
    message = named(attention(lambda s: s.clamp(low, high)))
    assert f"cut off at a bound: the {ends} of a row come out equal" in message


def test_a_factor_of_each_querys_own_is_told():
    def by_size(scores):
        return scores / (0.3 + scores.abs().amax(-1, keepdim=True))

    assert "multiplied by a number of the query's own, from" in named(attention(by_size))


def test_one_factor_for_each_case_is_told():
    message = named(attention(lambda s: s * (0.5 + 0.1 * s.shape[0])))
    assert "by one number in each case" in message


def test_one_factor_for_all_is_told():
    assert "of scores 1.7 times as large" in named(attention(lambda s: 1.7 * s))


@pytest.mark.parametrize(
    "answer",
    [
        attention(lambda s: 5 * (s / 5).tanh()),  # equal nowhere
        attention(lambda s: s, lambda w: w.clamp(max=0.3)),  # of weights, which sum to one no more
        attention(lambda s: s, lambda w: 2 * w),
        attention(lambda s: s + 0.3 * s.sin()),
    ],
)
def test_of_other_weights_nothing_is_told_of_scores(answer):
    message = named(answer)
    assert "scores" not in message
    assert "cut off" not in message


def test_right_weights_tell_nothing():
    verdict = check.scaled_dot_product_attention.verdict(reference_attention)
    assert verdict.passed


def test_fewer_weights_in_no_order_are_not_called_the_largest():
    def without_the_first(weights):
        left = weights.clone()
        left[..., 0] = 0
        return left

    assert "largest" not in named(attention(lambda s: s, without_the_first))
