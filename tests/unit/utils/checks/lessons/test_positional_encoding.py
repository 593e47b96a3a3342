"""The oracles of lesson 04 against plain loops, and what its checks say in the usual cases."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from utils.checks import check
from utils.checks.render import as_text
from utils.experiments.buggy import broken_encoding
from utils.reference.modules import PositionalEncoding
from utils.reference.positions.by_rotation import (
    reference_encoding,
    reference_rotary,
    reference_shift,
)

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
        (EmbeddingAsTable, "a value of type Embedding", "weight_is_a_module"),
    ],
)
def test_a_table_that_is_no_parameter_called_weight_is_told_what_it_is(answer, found, name):
    verdict = check.LearnedPositionalEncoding.verdict(answer)
    says = verdict.first_failure.finding.message
    assert says == f"self.weight is {found}; it should be an nn.Parameter."
    assert verdict.mistake.name == name


def sinusoids(max_len, d_model):
    if d_model % 2:
        raise ValueError("in words of one's own")
    return reference_encoding(max_len, d_model)


class BegunAsSinusoids(nn.Module):
    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__()
        self.weight, self.dropout = nn.Parameter(sinusoids(max_len, d_model)), nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] > len(self.weight):
            raise ValueError("too long")
        return self.dropout(x + self.weight[: x.shape[1]])


def test_a_learned_table_that_begins_as_sinusoids_is_told_to_take_an_odd_width():
    verdict = check.LearnedPositionalEncoding.verdict(BegunAsSinusoids)
    assert verdict.mistake.name == "odd_width_refused"


def test_a_short_call_before_the_others_finds_a_buffer_that_takes_on_its_type():
    class Recast(PositionalEncoding):
        def forward(self, x):
            self.pe = self.pe.to(x.dtype)
            return super().forward(x)

    verdict = check.PositionalEncoding.verdict(Recast)
    assert verdict.idea_is_right
    assert verdict.mistake.name == "table_takes_on_the_words_type"


def test_a_fault_of_negative_offsets_is_said_to_come_with_the_offset():
    def matrix(offset, d_model):
        return reference_shift(offset if offset >= 0 else offset**3, d_model)

    symptoms = " ".join(check.shift_matrix.verdict(matrix).symptoms)
    assert "The same call with an offset of 0 is right" in symptoms


def test_the_repair_as_released_is_called_still_broken():
    verdict = check.repaired_encoding.verdict(broken_encoding)
    assert verdict.earned == 0
    assert verdict.mistake.name == "still_broken"


def test_a_prediction_of_something_else_is_wrong_and_not_an_error():
    verdict = check.predict_fastest_column.verdict("the second")
    assert verdict.earned == 0
    assert not verdict.is_stub
    told = as_text(verdict)
    assert all(f'"{word}"' in told for word in ("first", "middle", "last", "all alike"))


class RowsByLength(nn.Module):
    """Keeps the rows of each length, computed from the weights of the first call."""

    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, d_model))
        self.dropout, self.known = nn.Dropout(dropout), {}

    def forward(self, x):
        length = x.shape[1]
        if length > len(self.weight):
            raise ValueError("too long")
        rows = self.known.setdefault(length, self.weight[:length].detach().clone())
        return self.dropout(x + rows + 0 * self.weight[:length])


class LongestRows(nn.Module):
    """Keeps the longest slice that was asked for."""

    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.register_buffer("pe", reference_encoding(max_len, d_model))
        self.dropout, self.rows = nn.Dropout(dropout), None

    def forward(self, x):
        if x.shape[1] > len(self.pe):
            raise ValueError("too long")
        if self.rows is None or len(self.rows) != x.shape[1]:
            self.rows = self.rows if self.rows is not None else self.pe[: x.shape[1]]
        return self.dropout(x + self.rows.to(x.dtype))


class ScaledOnce(nn.Module):
    """Keeps the scaled table of the first call."""

    def __init__(self, vocab_size, d_model, padding_idx=0):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)
        self.scaled = None

    def forward(self, ids):
        if self.scaled is None:
            self.scaled = self.table.weight * self.table.embedding_dim**0.5
        return nn.functional.embedding(ids, self.scaled, self.table.padding_idx)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("LearnedPositionalEncoding", RowsByLength),
        ("PositionalEncoding", LongestRows),
        ("TokenEmbedding", ScaledOnce),
    ],
)
def test_an_answer_that_remembers_an_earlier_call_misses_only_that(exercise, answer):
    verdict = getattr(check, exercise).verdict(answer)
    missed = [demand for demand, met in verdict.demands.items() if not met]
    assert "calls that do not depend on earlier ones" in missed
    assert not verdict.passed


class TableBeside(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.register_buffer("pe", torch.zeros(max_len, d_model))
        self.table, self.dropout = reference_encoding(max_len, d_model), nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError("too long")
        return self.dropout(x + self.table[: x.shape[1]].to(x.dtype))


def test_a_table_beside_the_buffer_is_seen_although_every_sum_is_right():
    verdict = check.PositionalEncoding.verdict(TableBeside)
    assert verdict.idea_is_right
    assert [d for d, met in verdict.demands.items() if not met] == [
        "what is added comes from the buffer"
    ]


def rotary_in_the_type_of_x(x, base=10000.0, offset=0):
    rates = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = (offset + torch.arange(x.shape[-2])).to(x.dtype)[:, None] * rates.to(x.dtype)
    cos, sin, a, b = angles.cos(), angles.sin(), x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def test_angles_computed_in_bfloat16_miss_that_demand_alone():
    verdict = check.rotary_embedding.verdict(rotary_in_the_type_of_x)
    assert verdict.idea_is_right
    assert [d for d, met in verdict.demands.items() if not met] == ["bfloat16"]


def remembering_by_shape():
    known = {}

    def rotary(x, base=10000.0):
        turns = known.setdefault(x.shape[-2:], reference_rotary(torch.ones_like(x[:1, :1]), base))
        a, b = turns[..., 0::2], turns[..., 1::2]  # cos - sin, sin + cos
        cos, sin, x1, x2 = (a + b) / 2, (b - a) / 2, x[..., 0::2], x[..., 1::2]
        return torch.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], -1).flatten(-2).to(x.dtype)

    return rotary


def test_angles_remembered_for_another_base_are_wrong():
    assert not check.rotary_embedding.verdict(remembering_by_shape()).idea_is_right
