"""Readers, tasks and measurements of lesson 01's experiments."""

from functools import partial

import pytest
import torch
from torch import nn

from utils.experiments.recurrence import (
    LSTMReader,
    Namer,
    RecurrentReader,
    as_batch,
    decoder_step,
    different_ends,
    draw_copying,
    draw_recall,
    first_state,
    input_gradients,
    longest_chain,
    share_right,
    teacher_forced,
    train_namer,
    turning_matrix,
)
from utils.experiments.reversal_task import BOS, reversal_batch
from utils.experiments.seq2seq import Seq2Seq


def torch_forward(x, h_0, w_x, w_h, b):
    layer = nn.RNN(x.shape[-1], h_0.shape[-1], batch_first=True)
    weights = {
        "weight_ih_l0": w_x,
        "weight_hh_l0": w_h,
        "bias_ih_l0": b,
        "bias_hh_l0": torch.zeros_like(b),
    }
    states, last = torch.func.functional_call(layer, weights, (x, h_0[None]))
    return states, last[0]


def last_input_only(x, h_0, w_x, w_h, b):
    del h_0, w_h
    h = torch.tanh(x[:, -1] @ w_x.T + b)
    return h[:, None], h


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_reader_that_keeps_symbols_apart_ends_in_a_state_for_each():
    torch.manual_seed(3)
    reader = RecurrentReader(torch_forward, 5, 9, radius=1.0)
    assert different_ends(reader, length=4, n_symbols=5) == 5


def test_a_reader_that_forgets_or_confuses_symbols_has_fewer_ends():
    torch.manual_seed(3)
    reader = RecurrentReader(torch_forward, 5, 9, radius=0.1)
    assert different_ends(reader, length=9, n_symbols=5) == 1
    with torch.no_grad():
        reader.w_x[:, 1] = reader.w_x[:, 0]
    assert different_ends(reader, length=1, n_symbols=5) == 4


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.5])
def test_a_turning_matrix_has_all_eigenvalues_on_its_radius(radius):
    torch.manual_seed(1)
    sizes = torch.linalg.eigvals(turning_matrix(7, radius)).abs()
    torch.testing.assert_close(sizes, torch.full((7,), radius))


def test_a_reader_gives_the_last_state_that_torch_gives():
    torch.manual_seed(2)
    reader, x = RecurrentReader(torch_forward, 3, 5), torch.randn(2, 4, 3)
    h = torch.zeros(2, 5)
    for t in range(4):
        h = torch.tanh(x[:, t] @ reader.w_x.T + h @ reader.w_h.T + reader.b)
    torch.testing.assert_close(reader(x), h)


def test_the_states_of_a_reader_are_those_of_every_step():
    torch.manual_seed(12)
    reader, x = RecurrentReader(torch_forward, 3, 5), torch.randn(2, 4, 3)
    states = reader.states(x)
    assert states.shape == (2, 4, 5)
    for t in range(4):
        torch.testing.assert_close(states[:, t], reader(x[:, : t + 1]))


def test_the_forget_bias_is_in_the_forget_gates_alone():
    torch.manual_seed(3)
    lstm = LSTMReader(3, 4, forget_bias=3.0).lstm
    total = (lstm.bias_ih_l0 + lstm.bias_hh_l0).detach()
    assert (total[4:8] == 3).all()
    assert (total[[*range(4), *range(8, 16)]].abs() < 2).all()


def test_an_lstm_reader_with_open_gates_has_longer_gradients():
    torch.manual_seed(4)
    x = torch.randn(5, 30, 3)
    plain, opened = (input_gradients(LSTMReader(3, 6, bias), x) for bias in (None, 5.0))
    assert plain.shape == (30,)
    assert opened[0] / opened[-1] > 100 * plain[0] / plain[-1]


def test_copying_names_the_symbols_that_the_input_shows():
    x, symbols = draw_copying(seeded(), length=6, size=4, n_symbols=5)
    assert x.shape == (4, 6, 5)
    assert torch.equal(x.argmax(-1), symbols)
    assert torch.equal(x.sum(-1), torch.ones(4, 6))


def test_recall_shows_its_symbol_first_and_noise_after_it():
    x, symbol = draw_recall(seeded(), length=200, noise=2.0, size=4, n_symbols=5)
    assert x.shape == (4, 200, 5)
    assert torch.equal(x[:, 0].argmax(-1), symbol[:, 0])
    assert x[:, 1:].std().item() == pytest.approx(2.0, rel=0.1)
    silent, _ = draw_recall(seeded(), length=7, noise=0.0)
    assert not silent[:, 1:].any()


def test_training_learns_what_the_last_state_can_know_and_no_more():
    torch.manual_seed(5)
    model = Namer(RecurrentReader(last_input_only, 8, 12), n_answers=3)
    draw = partial(draw_copying, length=3)
    progress = train_namer(model, draw, steps=80, seed=6, rate=0.05)
    shares = share_right(model, draw(seeded(7), size=400))
    assert len(progress.losses) == len(progress.norms) == 80
    assert shares[2] > 0.95
    assert shares[:2].max() < 0.3


def test_training_is_the_same_for_the_same_seed_and_clipping_limits_each_move():
    ends = []
    for clip in (1e-3, 1e-3, torch.inf):
        torch.manual_seed(8)
        model = Namer(RecurrentReader(torch_forward, 8, 6), n_answers=2)
        before = nn.utils.parameters_to_vector(model.parameters()).detach()
        draw = partial(draw_copying, length=2)
        train_namer(model, draw, steps=1, seed=9, rate=1.0, clip=clip, method=torch.optim.SGD)
        ends.append((nn.utils.parameters_to_vector(model.parameters()) - before).norm().item())
    assert ends[0] == ends[1] == pytest.approx(1e-3, rel=1e-2)
    assert ends[2] > 10 * ends[0]


def test_input_gradients_equal_finite_differences():
    torch.manual_seed(10)
    reader = RecurrentReader(torch_forward, 2, 3).double()
    x, tiny = torch.randn(1, 4, 2, dtype=torch.float64), 1e-6
    squares = torch.zeros(4, dtype=torch.float64)
    for t in range(4):
        for entry in range(2):
            moved = x.clone()
            moved[0, t, entry] += tiny
            squares[t] += ((reader(moved).sum() - reader(x).sum()) / tiny).item() ** 2
    torch.testing.assert_close(input_gradients(reader, x), squares.sqrt(), rtol=1e-4, atol=1e-6)


def test_the_longest_chain_counts_what_has_to_wait():
    x = torch.ones(3, requires_grad=True)
    chain = x
    for _ in range(2000):  # deeper than Python's own recursion would allow
        chain = chain * 2
    side_by_side = torch.stack([x * factor for factor in range(1, 20)])
    leaf = 1  # the node that would collect x's own gradient
    assert longest_chain(chain) == 2000 + leaf
    assert longest_chain(side_by_side) == 2 + leaf
    assert longest_chain(torch.ones(3)) == 0


def test_teacher_forcing_equals_the_models_own():
    torch.manual_seed(11)
    model, batch = Seq2Seq(20, d_model=12), reversal_batch([5, 5, 5], seed=12)
    begin = torch.full((3, 1), BOS)
    inputs = torch.cat([begin, batch.target[:, :-1]], 1)
    wanted = model(batch.source, batch.target).argmax(-1)
    assert torch.equal(teacher_forced(model, batch.source, inputs), wanted)


def test_stepping_equals_the_models_own_answer():
    torch.manual_seed(13)
    model, batch = Seq2Seq(20, d_model=12), reversal_batch([6, 6], seed=14)
    wanted = model.answer(batch.source, 4).tokens
    for row in range(2):
        step, state = decoder_step(model), first_state(model, batch.source[row : row + 1])
        token, written = BOS, []
        for _ in range(4):
            logits, state = step(token, state)
            assert logits.shape == (20,)
            token = int(logits.argmax())
            written.append(token)
        assert written == wanted[row].tolist()


def test_answers_of_any_length_fit_into_one_batch():
    batch = as_batch([[5, 6], [], [7, 8, 9, 4]], length=3)
    assert batch.tolist() == [[5, 6, 0], [0, 0, 0], [7, 8, 9]]
