"""Gradients through time: an independent right answer."""

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.rnn_limits.answers.recurrence import forward_oracle
from utils.checks.lessons.rnn_limits.probes import PROBES


def gradient_oracle(x: Tensor, h_0: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """Cut the sequence after each step: h_t is the initial state of torch's layer on the rest."""
    weights = [w.detach() for w in (w_x, w_h, b)]
    states = forward_oracle(x, h_0, *weights)[0].detach()
    norms = [torch.ones_like(h_0).norm()]
    for t in reversed(range(x.shape[1] - 1)):
        h_t = states[:, t].clone().requires_grad_()
        last = forward_oracle(x[:, t + 1 :], h_t, *weights)[1]
        norms.insert(0, torch.autograd.grad(last.sum(), h_t)[0].norm())
    return torch.stack(norms)


EXERCISES = by_id(Exercise(PROBES["gradient_through_time"], gradient_oracle))
