"""What is said of a wrong answer that no known mistake explains: it must be true."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from utils.checks import check
from utils.checks.explain.seen.places import of_places, of_repeats
from utils.checks.explain.symptoms import _of_numbers, _of_ratio, _of_shapes
from utils.checks.registry import find_exercise
from utils.reference.modules import MultiHeadAttention


def attention(change=lambda w: w, result=lambda o: o, masked=True):
    """Return an attention whose weights or output are changed in a way that no bank has."""

    def answer(q, k, v, mask=None):
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None and masked:
            scores = scores.masked_fill(~mask, -1e30)
        weights = scores.softmax(-1)
        if mask is not None and masked:
            weights = weights.masked_fill(~mask, 0.0)
        weights = change(weights)
        return result(weights @ v), weights

    return answer


def symptoms(answer, exercise="scaled_dot_product_attention"):
    verdict = getattr(check, exercise).verdict(answer)
    assert verdict.mistake is None
    return " ".join(verdict.symptoms)


def test_a_constant_factor_is_found():
    verdict = check.scaled_dot_product_attention.verdict(attention(result=lambda o: 3 * o))
    assert verdict.mistake.message == "The result `output` is the right one, but multiplied by 3."


def test_right_weights_are_said_to_be_right():
    found = symptoms(attention(result=lambda o: o.sin()))
    assert "weights is right in every case, but output is not." in found


def test_weights_that_do_not_sum_to_one_are_told_their_sum():
    found = symptoms(attention(change=lambda w: w.clamp(max=0.3)))
    assert "A row of weights sums to" in found


def test_a_single_number_has_no_entry_that_alone_is_wrong():
    found = symptoms(lambda logits, tags: (logits**2).sum() + tags.sum(), "token_loss")
    assert "entry" not in found


def test_a_fault_in_one_kind_of_case_is_said_to_be_there_only():
    def answer(q, k, v, mask=None):
        output, weights = attention()(q, k, v, mask)
        return (output if mask is None else output.sin()), weights

    assert "The same call without a mask is right: look at what happens with one." in symptoms(
        answer
    )


@pytest.mark.parametrize(
    ("got", "says"),
    [
        ([7, 8, 9, 4], "The first 3 entries of tokens are right, but it goes on."),
        ([7, 8], "The first 2 entries of tokens are right, then it stops too soon."),
        ([9, 7, 8], "tokens has the right entries in another order."),
        ([7, 5, 9], "Entry 1 of tokens is the first that is wrong."),
    ],
)
def test_lists_are_told_where_they_go_wrong(got, says):
    assert list(_of_numbers("tokens", [7, 8, 9], got)) == [says]


@pytest.mark.parametrize(
    ("wanted", "got", "says"),
    [
        (2.0, 16.0, ["loss is 8 times what it should be."]),
        (6, 2, ["loss is a third of what it should be."]),
        (2.0, 2.67, []),
        (0, 3, []),
        (True, 3, []),
        (math.nan, 3.0, []),
    ],
)
def test_numbers_are_compared_by_whole_ratios_only(wanted, got, says):
    assert list(_of_ratio("loss", wanted, got)) == says


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_huge_numbers_of_any_type_warn_nobody(dtype):
    def answer(q, k, v, mask=None):
        output, weights = attention()(q, k, v, mask)
        huge = torch.finfo(dtype).max
        return output.to(dtype) * 0 + huge, weights

    assert not check.scaled_dot_product_attention.verdict(answer).passed


@pytest.mark.parametrize(
    ("got", "says"),
    [
        (np.arange(8.0).reshape(2, 4)[:, :3], "Axis 1 of x is too short by 1; its first 3"),
        (np.arange(8.0).reshape(2, 4)[:, 1:], "Axis 1 of x is too short by 1; its last 3"),
        (np.pad(np.arange(8.0).reshape(2, 4), ((0, 0), (2, 0))), "too long by 2; its last 4"),
        (np.zeros((2, 5)), "Axis 1 of x is too long by 1, and neither end of it is right"),
    ],
)
def test_an_axis_of_another_length_is_told_with_the_end_that_is_right(got, says):
    (found,) = _of_shapes("x", np.arange(8.0).reshape(2, 4), got, 1e-5)
    assert says in found


def places(got, right=None):
    wanted = np.arange(12.0).reshape(4, 3) if right is None else right
    return list(of_places("x", wanted, got, 1e-5, {}))


def test_rows_that_came_one_place_too_late_are_told():
    rows = np.arange(12.0).reshape(4, 3)
    assert places(np.vstack([rows[:1] - 9, rows[:3]])) == [
        "x is right, but one index too late along axis 0."
    ]


def test_the_axis_along_which_all_is_alike_is_told():
    right = np.arange(24.0).reshape(2, 3, 4)
    got = np.broadcast_to(right[:, :1], right.shape)
    found = list(of_repeats("x", right, got, {"B": 2, "H": 3, "T": 4}))
    assert found == ["x is the same at every index of axis 1 (H)."]
    (found,) = of_repeats("x", right, got, {"B": 2, "H": 3, "lengths": [3, 1]})
    assert "axis 1." in found  # as many heads as words
    assert not list(of_repeats("x", got, got, {}))


def test_the_indices_that_are_right_are_told():
    got = np.arange(12.0).reshape(4, 3)
    got[1:3] += 7
    assert places(got) == ["x is right at indices 0 and 3 of axis 0, and wrong at all others."]


def test_one_of_two_rows_that_is_right_is_told_if_it_is_no_chance():
    def rows(width):
        return np.arange(2.0 * width).reshape(2, width)

    got = rows(3)
    got[1] += 7
    assert places(got, rows(3)) == ["x is right at index 0 of axis 0, and wrong at all others."]
    got = rows(2)
    got[1] += 7
    assert places(got, rows(2)) == []


def scrambled(*keep):
    """A mean with meaningless numbers, but where the batch is as large as asked."""

    def answer(x, mask):
        right = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        noise = torch.linspace(0.3, 8.1, right.numel()).view(right.shape).sin().to(x.dtype)
        return right if len(x) in keep else right + noise

    return answer


def test_where_failing_cases_share_nothing_no_case_is_pointed_at():
    verdict = check.masked_mean.verdict(scrambled(3), points=1.0)
    assert not any("besides" in s or "is right for" in s for s in verdict.symptoms)


def test_where_nothing_is_right_the_plainest_case_is_named():
    verdict = check.masked_mean.verdict(scrambled(), points=1.0)
    assert any("by hand" in s and "padding at the end" in s for s in verdict.symptoms)


def test_a_refusal_by_assert_is_told_which_error_is_asked_for():
    def noam_rate(step: int, d_model: int, warmup: int) -> float:
        assert step >= 1
        return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)

    (said,) = check.noam_rate.verdict(noam_rate).symptoms
    assert "`if ...: raise ValueError(...)` is asked for" in said


@pytest.mark.parametrize("error", [ValueError, Exception, RuntimeError])
def test_a_test_that_raises_is_told_to_assert(error):
    def rejects(encoder):
        one, two = encoder(torch.tensor([[3, 7]])), encoder(torch.tensor([[3, 7, 0]]))
        if not torch.allclose(one, two[:, :2], atol=1e-4):
            raise error("padding leaks")

    (said,) = check.test_padding.verdict(rejects).symptoms
    assert "rejects a version by `assert`" in said


def test_a_test_that_torch_stops_is_told_what_torch_says():
    def compares(encoder):
        assert (encoder(torch.tensor([[3, 7]])) == encoder(torch.tensor([[3, 7, 0]]))).all()

    (said,) = check.test_padding.verdict(compares).symptoms
    assert said.startswith("Axis 1 has size 2 in one tensor and 3 in the other")


def test_tensors_that_belong_to_another_module_are_told_as_shared():
    right = find_exercise("load_torch_encoder").oracle

    def load(encoder, torch_encoder):
        right(encoder, torch_encoder)
        ours, theirs = encoder.layers[0].feed_forward.linear_1, torch_encoder.layers[0].linear1
        ours.weight.data = theirs.weight.data

    said = check.load_torch_encoder.verdict(load).symptoms
    assert any(one.startswith("output is right at first, but changes after") for one in said)


def test_a_convolution_that_meets_words_for_features_is_told_the_axes():
    class Neighbours(nn.Module):
        def __init__(self, d_model, width=3):
            super().__init__()
            self.conv = nn.Conv1d(d_model, d_model, width, padding=width // 2, groups=d_model)
            nn.init.zeros_(self.conv.weight)
            nn.init.zeros_(self.conv.bias)

        def forward(self, x, mask=None):
            return x + self.conv(x)

    known = check.Neighbours.verdict(Neighbours).mistake
    assert known is not None and "swap the last two axes" in known.hint


def test_numbers_at_exchanged_places_are_not_called_added():
    def cut(x, n_heads):
        size, length, width = x.shape
        return x.flatten(1).roll(1, 1).view(size, length, n_heads, width // n_heads).transpose(1, 2)

    said = check.repaired_split_heads.verdict(cut).symptoms
    assert said
    assert not any("added" in one for one in said)


def test_dropout_on_what_weights_are_made_of_is_told_so_and_not_that_weights_are_right():
    class Dropped(MultiHeadAttention):
        def forward(self, query, key, value, mask=None):
            key = nn.functional.dropout(key, self.dropout, self.training)
            return super().forward(query, key, value, mask)

    said = check.MultiHeadAttention.verdict(Dropped).symptoms
    assert any(one.startswith("In eval mode weights is right, and in train mode") for one in said)
    assert not any("right in every case" in one for one in said)


def test_a_rounded_number_is_told_to_be_rounded_and_given_no_other_cause():
    def train_step(model, batch, optimizer, scheduler, device, clip=1.0):
        step = find_exercise("train_step").oracle
        return round(step(model, batch, optimizer, scheduler, device, clip), 3)

    assert "is right, but rounded" in symptoms(train_step, "train_step")


def test_a_prediction_with_too_few_digits_is_asked_for_more():
    assert symptoms(4.1, "predict_first_loss") == "Close, but not close enough: give more digits."
    assert not symptoms(5.2, "predict_first_loss")


def test_numbers_that_are_nearly_right_behave_like_no_mistake():
    class LayerNorm(nn.Module):
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.weight, self.bias = (
                nn.Parameter(torch.ones(d_model)),
                nn.Parameter(torch.zeros(d_model)),
            )
            self.eps = eps

        def forward(self, x):
            y = x.float()
            centred = y - y.mean(-1, keepdim=True)
            spread = (centred.square().mean(-1, keepdim=True) + self.eps).sqrt()
            return self.weight * centred / spread + self.bias

    verdict = check.LayerNorm.verdict(LayerNorm)
    assert not verdict.passed
    assert verdict.mistake is None
