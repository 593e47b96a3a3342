"""What is known of a function is known where an answer writes it out in full."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.checks import check
from utils.checks.registry import exercises


def reading(cell):
    """An `rnn_forward` that takes these steps, written without `rnn_cell`."""

    def rnn_forward(x, h_0, w_x, w_h, b):
        h, states = h_0, []
        for x_t in x.transpose(0, 1):
            h = cell(x_t @ w_x.T, h, h @ w_h.T, b)
            states.append(h)
        return torch.stack(states, 1), h

    return rnn_forward


STEPS = {
    "old state is added": lambda of_x, h, of_h, b: h + (of_x + of_h + b).tanh(),
    "A leaky ReLU": lambda of_x, h, of_h, b: F.leaky_relu(of_x + of_h + b),
    "product of the input alone": lambda of_x, h, of_h, b: of_x.tanh() + of_h + b,
    "bias is added twice": lambda of_x, h, of_h, b: torch.tanh(of_x + b + of_h + b),
}


def named(exercise, answer, **grading):
    verdict = getattr(check, exercise).verdict(answer, **grading)
    assert verdict.mistake is not None, verdict.symptoms
    return verdict.mistake


@pytest.mark.parametrize("words", STEPS)
def test_a_mistake_of_a_function_is_named_where_it_is_written_out(words):
    assert words in named("rnn_forward", reading(STEPS[words])).message


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x, mask=None):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = q @ k.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1).nan_to_num() / q.shape[-1] ** 0.5
        return weights @ v, weights


def test_a_mistake_of_a_function_is_named_inside_a_class():
    assert "weights are divided by sqrt(Dk)" in named("SelfAttention", SelfAttention).message


def test_what_explains_all_cases_is_named_where_the_exercises_own_explains_some():
    def gradients(x, h_0, w_x, w_h, b):
        h, states = h_0.detach().requires_grad_(), []
        for x_t in x.unbind(1):
            h = F.elu(x_t @ w_x.T + h @ w_h.T + b)
            states.append(h)
        return torch.stack([g.norm() for g in torch.autograd.grad(h.sum(), states)])

    # Where every sum is positive, an ELU is no activation at all.
    positive = {"case": "one input, one unit", "B": 2, "T": 5, "I": 1, "Hd": 1}
    grading = {"points": 1, "hidden": [positive]}
    assert "An ELU" in named("gradient_through_time", gradients, **grading).message


def test_an_input_that_is_changed_is_blamed_on_no_function():
    class PositionalEncoding(nn.Module):
        def __init__(self, d_model, max_len=5000, dropout=0.0):
            super().__init__()
            right = exercises()["sinusoidal_encoding"].oracle
            self.register_buffer("pe", right(max_len, d_model))
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            if x.shape[1] > len(self.pe):
                raise ValueError("too long")
            x += self.pe[: x.shape[1]].to(x.dtype)
            return self.dropout(x)

    of_parts = {m.message for m in exercises()["PositionalEncoding"].of_parts()}
    mistake = check.PositionalEncoding.verdict(PositionalEncoding).mistake
    assert of_parts
    assert mistake is None or mistake.message not in of_parts


def test_an_exercises_own_words_for_a_mistake_come_first():
    for name, exercise in exercises().items():
        own = {mistake.name for mistake in exercise.mistakes}
        ends = [f"_in_{part}" for part in exercise.probe.stand_ins]
        for mistake in exercise.of_parts():
            assert not any(mistake.name.removesuffix(end) in own for end in ends), name
