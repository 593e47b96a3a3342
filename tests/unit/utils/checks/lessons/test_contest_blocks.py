"""The oracles of lesson 06's two blocks against loops and torch's convolution."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from utils.checks import check
from utils.checks.lessons.training.answers.neighbours import NeighboursOracle
from utils.checks.lessons.training.answers.rotary import RotaryOracle
from utils.reference.attention.multi_head import MultiHeadAttention

BASE = 30.0
LENGTHS = st.lists(st.integers(1, 6), min_size=1, max_size=4)


def score_by_distance(q, k, distance):
    """One head's score: pair i of q meets pair i of k, turned by the distance between the words."""
    total, width = 0.0, len(q)
    for i in range(0, width, 2):
        angle = distance * BASE ** (-i / width)
        a, b, c, d = *q[i : i + 2], *k[i : i + 2]
        total += (a * c + b * d) * math.cos(angle) + (b * c - a * d) * math.sin(angle)
    return total / math.sqrt(width)


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 3), st.integers(1, 3))
def test_rotary_weights_depend_on_the_distance_alone(queries, keys, heads, pairs):
    torch.manual_seed(queries + 10 * keys)
    width = 2 * pairs
    block = RotaryOracle(heads * width, heads, base=BASE).double()
    x, y = (torch.randn(1, n, heads * width).double() for n in (queries, keys))
    q, k = block.w_q(x)[0].tolist(), block.w_k(y)[0].tolist()
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        rows = [
            [score_by_distance(q[t][part], k[s][part], s - t) for s in range(keys)]
            for t in range(queries)
        ]
        wanted = torch.tensor(rows, dtype=torch.float64).softmax(-1)
        torch.testing.assert_close(block(x, y, y)[1][0, head], wanted)


def test_where_nothing_turns_it_is_lesson_03s_attention():
    torch.manual_seed(0)
    block, plain = RotaryOracle(12, 3, base=BASE), MultiHeadAttention(12, 3)
    plain.load_state_dict(block.state_dict())
    one = torch.randn(4, 1, 12)  # a single word stands at position 0
    torch.testing.assert_close(block(one, one, one)[0], plain(one, one, one)[0])


@given(LENGTHS, st.sampled_from([1, 3, 5]))
def test_neighbours_are_torchs_convolution_of_each_sentence_alone(lengths, width):
    torch.manual_seed(sum(lengths))
    block = NeighboursOracle(4, width)
    conv = nn.Conv1d(4, 4, width, padding=width // 2, groups=4)
    block.conv.load_state_dict(conv.state_dict())
    x = torch.randn(len(lengths), max(lengths), 4)
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None])[:, None]
    found = block(x, mask)
    for row, words, length in zip(found, x, lengths, strict=True):
        alone = words[:length]
        torch.testing.assert_close(row[:length], alone + conv(alone.T[None])[0].T)


@pytest.mark.parametrize("name", ["Neighbours", "RotaryAttention"])
def test_a_block_that_is_not_a_module_is_told_so(name):
    verdict = getattr(check, name).verdict(lambda *_sizes, **_choices: "no module")
    assert "nn.Module" in verdict.first_failure.finding.message


def test_a_full_convolution_is_told_the_shape_of_a_small_one():
    class Full(nn.Module):
        def __init__(self, d_model, width=3):
            super().__init__()
            self.conv = nn.Conv1d(d_model, d_model, width, padding=width // 2)

    message = check.Neighbours.verdict(Full).first_failure.finding.message
    assert "(4, 4, 3)" in message
    assert "(4, 1, 3)" in message
