"""Gradients through time: mistakes in what torch records, and in what is left behind."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from utils.checks.exercise import Mistake
from utils.reference.recurrence import reference_forward
from utils.reference.recurrent_cell import reference_cell


def _states(x: Tensor, h_0: Tensor, *weights: Tensor) -> list[Tensor]:
    """Return all states, h_0 first, in one graph that begins at h_0."""
    states = [h_0.detach().requires_grad_()]
    for x_t in x.unbind(1):
        states.append(reference_cell(x_t, states[-1], *weights))
    return states


def _gradients(states: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Differentiate the sum of the last state with respect to each state."""
    return torch.autograd.grad(states[-1].sum(), states)


def _norm_by_step(gradient: Tensor) -> Tensor:
    norms: Tensor = gradient.norm(dim=(0, 2))
    return norms


def _stacked(x: Tensor, h_0: Tensor, *weights: Tensor) -> Tensor:
    states, last = reference_forward(x, h_0.detach().requires_grad_(), *weights)
    return _norm_by_step(torch.autograd.grad(last.sum(), states)[0])


def _nothing_recorded(x: Tensor, h_0: Tensor, *weights: Tensor) -> Tensor:
    states, last = reference_forward(x, h_0, *weights)
    return _norm_by_step(torch.autograd.grad(last.sum(), states)[0])


def _nothing_recorded_in_a_list(x: Tensor, h_0: Tensor, *weights: Tensor) -> Tensor:
    states = [h_0]
    for x_t in x.unbind(1):
        states.append(reference_cell(x_t, states[-1], *weights))
    return torch.stack([g.norm() for g in _gradients(states[1:])])


def _nothing_to_retain(x: Tensor, h_0: Tensor, *weights: Tensor) -> Tensor:
    states = [h_0]
    for x_t in x.unbind(1):
        states.append(reference_cell(x_t, states[-1], *weights))
        states[-1].retain_grad()
    torch.autograd.backward(states[-1].sum())
    return torch.stack([h.grad.norm() for h in states[1:] if h.grad is not None])


def _left_behind(*args: Tensor) -> Tensor:
    states = _states(*args)
    for state in states:
        state.retain_grad()
    torch.autograd.backward(states[-1].sum())
    return torch.stack([h.grad.norm() for h in states[1:] if h.grad is not None])


def _asking_and_leaving(*asked: int) -> Callable[..., Tensor]:
    """Build a measurement by backward() that makes some of the caller's weights ask for it."""

    def measured(x: Tensor, h_0: Tensor, *weights: Tensor) -> Tensor:
        for place in asked:
            weights[place].requires_grad_()
        return _left_behind(x, h_0, *weights)

    return measured


def _nothing_retained(x: Tensor, *_: Tensor) -> Tensor:
    kept: list[Any] = [None] * x.shape[1]  # a state's .grad, unless it is asked to keep one
    return torch.stack([gradient.norm() for gradient in kept])


def _asking_h_0(x: Tensor, h_0: Tensor, *weights: Tensor) -> Tensor:
    return _nothing_recorded_in_a_list(x, h_0.requires_grad_(), *weights)


def _asking_weights(x: Tensor, h_0: Tensor, *weights: Tensor) -> Tensor:
    return _nothing_recorded_in_a_list(x, h_0, *(w.requires_grad_() for w in weights))


_NOT_RECORDED = (
    "No input asks for gradients, so torch recorded nothing.",
    "A detached copy of h_0 with requires_grad_() starts the recording.",
)
_ASKING_AFTERWARDS = (
    "The norms are right, but from now on the caller's own tensors ask for gradients: "
    "requires_grad_() changes the tensor itself.",
    "A detached copy of h_0 with requires_grad_() starts a recording of its own.",
)
RECORDING = (
    Mistake(
        "stacked_states",
        "h_T was not computed from the stacked states: stacking makes a copy that leads nowhere.",
        "Keep the states in a list as they are made, and differentiate with respect to those.",
        _stacked,
    ),
    Mistake(
        "nothing_recorded",
        *_NOT_RECORDED,
        _nothing_recorded,
    ),
    Mistake(
        "nothing_recorded_in_a_list",
        *_NOT_RECORDED,
        _nothing_recorded_in_a_list,
    ),
    Mistake(
        "nothing_to_retain",
        "No input asks for gradients, so torch recorded nothing, and a state has none to keep.",
        "A detached copy of h_0 with requires_grad_() starts the recording.",
        _nothing_to_retain,
    ),
    Mistake(
        "nothing_retained",
        "The states' .grad is None: after backward() torch keeps the gradients of leaves only.",
        "retain_grad() asks a state to keep its own, before backward(). torch.autograd.grad "
        "returns gradients without storing them.",
        _nothing_retained,
    ),
    Mistake(
        "gradients_left_behind",
        "The norms are right, but backward() also adds to the .grad of the caller's weights.",
        "torch.autograd.grad returns gradients and leaves no .grad behind.",
        _left_behind,
    ),
    *(
        Mistake(
            f"gradients_left_in_{name}",
            "The norms are right, but from now on the caller's own tensors ask for gradients, and "
            "backward() has left some in them.",
            "A detached copy of h_0 with requires_grad_() starts a recording of its own, and "
            "torch.autograd.grad leaves no .grad behind.",
            _asking_and_leaving(*asked),
        )
        for name, asked in (("w_h", (1,)), ("both_matrices", (0, 1)), ("all_weights", (0, 1, 2)))
    ),
    Mistake("h_0_asks_for_gradients", *_ASKING_AFTERWARDS, _asking_h_0),
    Mistake("weights_ask_for_gradients", *_ASKING_AFTERWARDS, _asking_weights),
)
