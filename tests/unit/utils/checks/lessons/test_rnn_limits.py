"""Lesson 01's oracles against plain loops and finite differences."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from utils.checks import check
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.rnn_limits.answers.cell import cell_oracle
from utils.checks.lessons.rnn_limits.answers.gradient import gradient_oracle
from utils.checks.lessons.rnn_limits.answers.recurrence import forward_oracle
from utils.checks.lessons.rnn_limits.answers.steps import longest_wait
from utils.checks.observe.observe import observe
from utils.checks.registry import find_exercise
from utils.reference.recurrence import reference_forward
from utils.reference.recurrent_cell import reference_cell

SIZE = st.integers(1, 4)


def drawn(size, t, width, units):
    draw = Draw("float64", sizes=(size, t, width, units))
    x, h_0 = draw.normal(size, t, width), draw.normal(size, units)
    return x, h_0, draw.normal(units, width), draw.normal(units, units), draw.normal(units)


def cell_by_hand(x, h, w_x, w_h, b):
    return [
        math.tanh(
            sum(w_x[j][i] * x[i] for i in range(len(x)))
            + sum(w_h[j][g] * h[g] for g in range(len(h)))
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


def decode_until_the_end(step, state, bos, eos, max_len):
    token, tokens = bos, []
    while True:
        logits, state = step(token, state)
        token = int(logits.argmax())
        if token == eos:
            return tokens[:max_len]
        tokens.append(token)


def test_a_decoder_that_never_counts_is_stopped_and_named():
    verdict = check.greedy_decode.verdict(decode_until_the_end)
    failing = [r.case.name for r in verdict.results if not r.passed]
    assert failing == ["no end in sight"]
    assert verdict.mistake.name == "runs_until_the_end_token"
    assert "step was called 200 times; max_len is 4" in verdict.first_failure.finding.message


def gradient_by_keeping(x, h_0, w_x, w_h, b):
    """Asks the states to keep their gradients, but nothing asks for any."""
    h, states = h_0, []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ w_x.T + h @ w_h.T + b)
        h.retain_grad()
        states.append(h)
    h.sum().backward()
    return torch.tensor([h.grad.norm() for h in states])


def test_keeping_gradients_where_nothing_is_recorded_is_named():
    verdict = check.gradient_through_time.verdict(gradient_by_keeping)
    assert verdict.first_failure.finding.kind == "exception"
    assert verdict.mistake.name == "nothing_to_retain"


def gradient_by_a_list(x, h_0, w_x, w_h, b):
    """Differentiates by the states, but nothing asks for gradients."""
    h, states = h_0, []
    for x_t in x.unbind(1):
        h = torch.tanh(x_t @ w_x.T + h @ w_h.T + b)
        states.append(h)
    return torch.stack([g.norm() for g in torch.autograd.grad(states[-1].sum(), states)])


def test_a_list_of_states_of_which_nothing_is_recorded_is_named():
    verdict = check.gradient_through_time.verdict(gradient_by_a_list)
    assert "does not require grad" in verdict.first_failure.finding.message
    assert verdict.mistake.message == "No input asks for gradients, so torch recorded nothing."


def forward_in_place(first):
    """Writes every state into one tensor, made of h_0 by ``first``."""

    def answer(x, h_0, w_x, w_h, b):
        h, states = first(h_0), []
        for x_t in x.unbind(1):
            h[:] = torch.tanh(x_t @ w_x.T + h @ w_h.T + b)
            states.append(h)
        return torch.stack(states, 1), h

    return answer


@pytest.mark.parametrize("first", [lambda h: h, torch.clone])
def test_states_written_over_one_another_are_named_though_numbers_differ(first):
    verdict = check.rnn_forward.verdict(forward_in_place(first))
    assert verdict.first_failure.finding.kind == "values"
    assert verdict.mistake.name == "one_tensor_for_all_states"


def test_right_states_that_backward_fails_on_are_not_named_by_their_numbers():
    def answer(x, h_0, w_x, w_h, b):
        h, states = h_0.clone(), []
        for x_t in x.unbind(1):
            h[:] = torch.tanh(x_t @ w_x.T + h @ w_h.T + b)
            states.append(h.clone())
        return torch.stack(states, 1), h

    assert check.rnn_forward.verdict(answer).mistake.name == "breaks_backward"


def with_torchs_weights(layer, w_x, w_h, b):
    """Put the given weights into one of torch's recurrent layers."""
    values = (w_x, w_h, b, torch.zeros_like(b))
    for parameter, value in zip(layer.parameters(), values, strict=True):
        parameter.data = value.detach()
    return layer


def cell_by_torch(x_t, h, w_x, w_h, b):
    return with_torchs_weights(nn.RNNCell(*w_x.T.shape), w_x, w_h, b)(x_t, h)


def forward_by_torch(x, h_0, w_x, w_h, b):
    layer = with_torchs_weights(nn.RNN(*w_x.T.shape, batch_first=True), w_x, w_h, b)
    states, last = layer(x, h_0[None])
    return states, last[0]


SHORTCUTS = {"rnn_cell": cell_by_torch, "rnn_forward": forward_by_torch}


@pytest.mark.parametrize("exercise", SHORTCUTS)
def test_torchs_own_layers_are_right_in_number_and_refused(exercise):
    probe = find_exercise(exercise).probe
    allowed = observe(probe, probe.cases[0], SHORTCUTS[exercise], trusted=True)
    wanted = observe(probe, probe.cases[0], find_exercise(exercise).oracle, trusted=True)
    for name, value in wanted.values.items():
        np.testing.assert_allclose(allowed.values[name], value, rtol=1e-5)
    refused = observe(probe, probe.cases[0], SHORTCUTS[exercise])
    assert refused.problem.kind == "forbidden"


def gradient_by_restarting_torch(x, h_0, w_x, w_h, b):
    states, _ = forward_by_torch(x, h_0, w_x, w_h, b)
    norms = []
    for t in range(x.shape[1] - 1):
        h_t = states[:, t].detach().requires_grad_()
        last = forward_by_torch(x[:, t + 1 :], h_t, w_x, w_h, b)[1]
        norms.append(torch.autograd.grad(last.sum(), h_t)[0].norm())
    return torch.stack([*norms, torch.ones_like(h_0).norm()])


def test_measuring_gradients_with_torchs_own_layer_earns_all():
    verdict = check.gradient_through_time.verdict(gradient_by_restarting_torch)
    assert verdict.earned == 1
