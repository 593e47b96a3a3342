"""The oracles of lesson 04 against plain loops, and what its checks say in the usual cases."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from utils.checks import check
from utils.checks.positional_encoding.reference import (
    reference_encoding,
    reference_rotary,
    reference_shift,
)
from utils.specimens import broken_encoding

HALF_WIDTH = st.integers(1, 8)


def angle(position, pair, width, base=10000.0):
    return position / base ** (2 * pair / width)


def entry(position, column, width):
    wave = math.cos if column % 2 else math.sin
    return wave(angle(position, column // 2, width))


@given(st.integers(1, 30), HALF_WIDTH)
def test_sinusoids_equal_the_formula_entry_by_entry(length, half):
    width = 2 * half
    by_hand = [[entry(p, column, width) for column in range(width)] for p in range(length)]
    torch.testing.assert_close(reference_encoding(length, width), torch.tensor(by_hand))


@given(st.integers(-20, 20), HALF_WIDTH, st.integers(20, 40))
def test_the_shift_moves_any_position(offset, half, position):
    width = 2 * half
    row = [entry(position, column, width) for column in range(width)]
    moved = [entry(position + offset, column, width) for column in range(width)]
    got = reference_shift(offset, width) @ torch.tensor(row)
    torch.testing.assert_close(got, torch.tensor(moved), atol=1e-5, rtol=1e-4)


@given(st.integers(1, 9), HALF_WIDTH, st.sampled_from([2.0, 100.0, 10000.0]))
def test_rotation_equals_the_formula_pair_by_pair(length, half, base):
    width = 2 * half
    x = torch.arange(1.0, 2 * 3 * length * width + 1, dtype=torch.float64).cos()
    x = x.view(2, 3, length, width)
    turned = reference_rotary(x, base)
    for p in range(length):
        for i in range(half):
            cos, sin = (wave(angle(p, i, width, base)) for wave in (math.cos, math.sin))
            a, b = x[:, :, p, 2 * i], x[:, :, p, 2 * i + 1]
            torch.testing.assert_close(turned[:, :, p, 2 * i], a * cos - b * sin)
            torch.testing.assert_close(turned[:, :, p, 2 * i + 1], a * sin + b * cos)


def test_an_odd_width_is_refused_by_the_stand_in():
    with pytest.raises(ValueError, match="must be even, not 5"):
        reference_encoding(3, 5)


def sinusoids_down_to_the_base(max_len, d_model):
    """As some programs space them: divided by one pair less than there is."""
    if d_model % 2:
        raise ValueError("odd")
    pairs = d_model // 2
    rates = torch.exp(torch.arange(pairs) * -(math.log(10000.0) / max(pairs - 1, 1)))
    angles = torch.arange(max_len)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def test_frequencies_down_to_the_base_are_named_and_not_called_doubled():
    verdict = check.sinusoidal_encoding.verdict(sinusoids_down_to_the_base)
    assert verdict.mistake.name == "divided_by_one_pair_less"


class InsideAnEmbedding(nn.Module):
    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__()
        self.places = nn.Embedding(max_len, d_model)

    def forward(self, x):
        return x + self.places(torch.arange(x.shape[1]))


class PlainTable(nn.Module):
    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__()
        self.weight = torch.randn(max_len, d_model)

    def forward(self, x):
        return x + self.weight[: x.shape[1]]


class EmbeddingAsTable(InsideAnEmbedding):
    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__(d_model, max_len, dropout)
        self.weight = self.places


@pytest.mark.parametrize(
    ("answer", "found", "name"),
    [
        (InsideAnEmbedding, "missing", "under_another_name"),
        (PlainTable, "a plain attribute", "plain_attribute"),
        (EmbeddingAsTable, "a value of type Embedding", None),
    ],
)
def test_a_table_that_is_no_parameter_called_weight_is_told_what_it_is(answer, found, name):
    verdict = check.LearnedPositionalEncoding.verdict(answer)
    says = verdict.first_failure.finding.says
    assert says == f"self.weight is {found}; it should be an nn.Parameter."
    assert (verdict.mistake.name if verdict.mistake else None) == name


def test_the_repair_as_released_is_called_still_broken():
    verdict = check.repaired_encoding.verdict(broken_encoding)
    assert verdict.earned == 0
    assert verdict.mistake.name == "still_broken"


def test_a_prediction_of_something_else_is_wrong_and_not_an_error():
    verdict = check.predict_fastest_column.verdict("the second")
    assert verdict.earned == 0
    assert not verdict.is_stub
    assert "first" not in repr(verdict)
