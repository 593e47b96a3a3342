"""Lesson 01's oracles against plain loops and finite differences."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from utils.checks.inputs import Draw
from utils.checks.rnn_limits.answers_gradient import gradient_oracle
from utils.checks.rnn_limits.answers_recurrence import cell_oracle, forward_oracle
from utils.checks.rnn_limits.answers_steps import longest_wait
from utils.checks.rnn_limits.reference import reference_cell, reference_forward

SIZE = st.integers(1, 4)


def drawn(size, t, width, units):
    draw = Draw("float64", sizes=(size, t, width, units))
    x, h_0 = draw.normal(size, t, width), draw.normal(size, units)
    return x, h_0, draw.normal(width, units), draw.normal(units, units), draw.normal(units)


def cell_by_hand(x, h, w_x, w_h, b):
    return [
        math.tanh(
            sum(x[i] * w_x[i][j] for i in range(len(x)))
            + sum(h[g] * w_h[g][j] for g in range(len(h)))
            + b[j]
        )
        for j in range(len(h))
    ]


@given(SIZE, SIZE, SIZE, SIZE)
def test_oracles_and_stand_ins_equal_loops(size, t, width, units):
    x, h_0, *weights = drawn(size, t, width, units)
    plain = [w.tolist() for w in weights]
    states = []
    for row, h in zip(x.tolist(), h_0.tolist(), strict=True):
        states.append([h := cell_by_hand(x_t, h, *plain) for x_t in row])
    wanted = torch.tensor(states, dtype=torch.float64)
    for forward in (forward_oracle, reference_forward):
        found, last = forward(x, h_0, *weights)
        torch.testing.assert_close(found, wanted)
        torch.testing.assert_close(last, wanted[:, -1])
    for cell in (cell_oracle, reference_cell):
        torch.testing.assert_close(cell(x[:, 0], h_0, *weights), wanted[:, 0])


def test_the_gradients_oracle_equals_finite_differences():
    x, h_0, *weights = drawn(2, 4, 3, 5)
    states, tiny = reference_forward(x, h_0, *weights)[0], 1e-6
    wanted = []
    for t in range(3):
        after = x[:, t + 1 :]
        start = reference_forward(after, states[:, t], *weights)[1].sum()
        squares = 0.0
        for entry in range(10):
            moved = states[:, t].clone()
            moved.view(-1)[entry] += tiny
            total = reference_forward(after, moved, *weights)[1].sum()
            squares += ((total - start) / tiny).item() ** 2
        wanted.append(math.sqrt(squares))
    found = gradient_oracle(x, h_0, *weights)
    assert found.tolist() == pytest.approx([*wanted, math.sqrt(10)], rel=1e-4)


def test_the_longest_wait_is_counted_on_the_needs():
    assert longest_wait([[], [0], [1], [2]]) == 4
    assert longest_wait([[], [], []]) == 1
    assert longest_wait([[], [], [0, 1], [], [2, 3]]) == 3
