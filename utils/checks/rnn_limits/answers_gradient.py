"""Gradients through time: what is right and commonly wrong."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, Mistake
from utils.checks.rnn_limits.answers_recurrence import forward_oracle
from utils.checks.rnn_limits.probes import PROBES
from utils.checks.rnn_limits.reference import reference_cell, reference_forward

_PROBE = next(probe for probe in PROBES if probe.exercise == "gradient_through_time")
Norm = Callable[[Tensor], Tensor]
StepBack = Callable[[Tensor, Tensor, Tensor], Tensor]


def gradient_oracle(x: Tensor, h_0: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """Cut the sequence after each step: h_t is the first state of torch's layer on the rest."""
    weights = [w.detach() for w in (w_x, w_h, b)]
    states = forward_oracle(x, h_0, *weights)[0].detach()
    norms = [torch.ones_like(h_0).norm()]
    for t in reversed(range(x.shape[1] - 1)):
        h_t = states[:, t].clone().requires_grad_()
        last = forward_oracle(x[:, t + 1 :], h_t, *weights)[1]
        norms.insert(0, torch.autograd.grad(last.sum(), h_t)[0].norm())
    return torch.stack(norms)


def _states(x: Tensor, h_0: Tensor, *weights: Tensor) -> list[Tensor]:
    """All states with h_0 before them, in one graph that begins at h_0."""
    states = [h_0.detach().requires_grad_()]
    for x_t in x.unbind(1):
        states.append(reference_cell(x_t, states[-1], *weights))
    return states


def _gradients(states: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Of the sum of the last state with respect to each one."""
    return torch.autograd.grad(states[-1].sum(), states)


def _with_norm(norm: Norm) -> Callable[..., Tensor]:
    """Right but for how a gradient (B, Hd) becomes one number."""
    return lambda *args: torch.stack([norm(g) for g in _gradients(_states(*args))[1:]])


def _states_before(*args: Tensor) -> Tensor:
    return torch.stack([g.norm() for g in _gradients(_states(*args))[:-1]])


def _of_all_states(*args: Tensor) -> Tensor:
    states = _states(*args)
    total = torch.stack(states[1:]).sum()
    return torch.stack([g.norm() for g in torch.autograd.grad(total, states[1:])])


def _norm_by_step(gradient: Tensor) -> Tensor:
    norms: Tensor = gradient.norm(dim=(0, 2))
    return norms


def _of_inputs(x: Tensor, *rest: Tensor) -> Tensor:
    leaf = x.detach().requires_grad_()
    total = reference_forward(leaf, *rest)[1].sum()
    return _norm_by_step(torch.autograd.grad(total, leaf)[0])


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


def _through_a_copy(*args: Tensor) -> Tensor:
    copy = torch.stack(_states(*args)[1:], 1)
    return _norm_by_step(torch.autograd.grad(copy[:, -1].sum(), copy)[0])


def _of_the_norm(*args: Tensor) -> Tensor:
    states = _states(*args)
    return torch.stack([g.norm() for g in torch.autograd.grad(states[-1].norm(), states[1:])])


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


def _without_slope(gradient: Tensor, slope: Tensor, w_h: Tensor) -> Tensor:
    del slope
    return gradient @ w_h


def _transposed(gradient: Tensor, slope: Tensor, w_h: Tensor) -> Tensor:
    return (gradient * slope) @ w_h.T


def _right_step(gradient: Tensor, slope: Tensor, w_h: Tensor) -> Tensor:
    return (gradient * slope) @ w_h


def _slope_last(gradient: Tensor, slope: Tensor, w_h: Tensor) -> Tensor:
    return (gradient @ w_h) * slope


def _by_hand(step_back: StepBack, *, slope_of: int = 0) -> Callable[..., Tensor]:
    """Backward by hand.

    Args:
        step_back: (gradient of h_t, tanh's slope, w_h) -> gradient of the state before.
        slope_of: which state the slope is taken at: h_t (0) or the one before (-1).
    """

    def norms(x: Tensor, h_0: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
        states = reference_forward(x, h_0, w_x, w_h, b)[0].unbind(1)
        gradient = torch.ones_like(h_0)
        found = [gradient.norm()]
        for t in reversed(range(1, len(states))):
            gradient = step_back(gradient, 1 - states[t + slope_of] ** 2, w_h)
            found.insert(0, gradient.norm())
        return torch.stack(found)

    return norms


GRADIENT = Exercise(
    _PROBE,
    gradient_oracle,
    (
        Mistake(
            "one_state_early",
            "These are the gradients of the states *before* each step, h_0 first.",
            "The last entry is the gradient of h_T with respect to itself: ones.",
            _states_before,
        ),
        Mistake(
            "wrong_order",
            "The entries run from the last step to the first.",
            "Entry 0 belongs to the state after the first step.",
            lambda *args: gradient_oracle(*args).flip(0),
        ),
        Mistake(
            "gradient_of_all_states",
            "All states are summed; the question is about the last one alone.",
            "Differentiate h_T.sum().",
            _of_all_states,
        ),
        Mistake(
            "with_respect_to_inputs",
            "These are gradients with respect to the inputs x_t, not to the states.",
            "The states in between can be differentiated by too: torch.autograd.grad takes a list "
            "of them.",
            _of_inputs,
        ),
        Mistake(
            "stacked_states",
            "h_T was not computed from the stacked states: stacking makes a copy that leads "
            "nowhere.",
            "Keep the states in a list as they are made, and differentiate by those.",
            _stacked,
        ),
        Mistake(
            "nothing_recorded",
            "No input asks for gradients, so torch recorded nothing.",
            "A detached copy of h_0 with requires_grad_() starts the recording.",
            _nothing_recorded,
        ),
        Mistake(
            "nothing_recorded_in_a_list",
            "No input asks for gradients, so torch recorded nothing.",
            "A detached copy of h_0 with requires_grad_() starts the recording.",
            _nothing_recorded_in_a_list,
        ),
        Mistake(
            "nothing_to_retain",
            "No input asks for gradients, so torch recorded nothing, and a state has none to keep.",
            "A detached copy of h_0 with requires_grad_() starts the recording.",
            _nothing_to_retain,
        ),
        Mistake(
            "through_a_stacked_copy",
            "Only the last gradient is there: h_T was cut out of a stacked copy, and the rest of "
            "the copy plays no part in it.",
            "Keep the states in a list as they are made, and differentiate by those.",
            _through_a_copy,
        ),
        Mistake(
            "of_the_norm",
            "The norm of h_T is differentiated, not the sum of its entries.",
            "First the gradient of h_T.sum(), then the norm of that gradient.",
            _of_the_norm,
        ),
        Mistake(
            "gradients_left_behind",
            "The norms are right, but backward() also adds to the .grad of the weights, which "
            "belongs to whoever trains them.",
            "torch.autograd.grad returns gradients and leaves no .grad behind.",
            _left_behind,
        ),
        Mistake(
            "squared",
            "These are squared norms.",
            "The 2-norm is the root of the sum of squares.",
            _with_norm(lambda g: (g**2).sum()),
        ),
        Mistake(
            "sum_of_absolutes",
            "These are sums of absolute values (the 1-norm).",
            "The 2-norm is the root of the sum of squares.",
            _with_norm(lambda g: g.abs().sum()),
        ),
        Mistake(
            "largest_entry",
            "These are the largest entries.",
            "The 2-norm is the root of the sum of squares.",
            _with_norm(lambda g: g.abs().max()),
        ),
        Mistake(
            "plain_sum",
            "The entries are summed with their signs, so that they cancel.",
            "The 2-norm is the root of the sum of squares.",
            _with_norm(torch.sum),
        ),
        Mistake(
            "mean_over_batch",
            "Each sequence's norm is taken, and then their mean.",
            "One norm over batch and units together.",
            _with_norm(lambda g: g.norm(dim=-1).mean()),
        ),
        Mistake(
            "one_norm_per_sequence",
            "There is a norm for every sequence of the batch.",
            "One norm over batch and units together: T numbers in all.",
            lambda *args: _with_norm(lambda g: g.norm(dim=-1))(*args).T,
        ),
        Mistake(
            "slope_of_tanh_left_out",
            "The gradient goes through w_h at every step, but not through tanh.",
            "The slope of tanh at a state h is 1 - h².",
            _by_hand(_without_slope),
        ),
        Mistake(
            "slope_of_the_state_before",
            "The slope of tanh is taken at the state that the gradient goes to, one step early.",
            "The tanh between two states made the later one: its slope is 1 - h² of that.",
            _by_hand(_right_step, slope_of=-1),
        ),
        Mistake(
            "slope_after_the_matrix",
            "Going back, the gradient meets w_h first and the slope of tanh after it.",
            "Forward, w_h comes before tanh. Going back, what came last is met first.",
            _by_hand(_slope_last),
        ),
        Mistake(
            "slope_one_place_on",
            "The gradient meets w_h first, and then the slope of tanh at the state before: that "
            "is a place inside the step before.",
            "Forward, w_h comes before tanh. From one state to the one before, the later state's "
            "tanh is met first.",
            _by_hand(_slope_last, slope_of=-1),
        ),
        Mistake(
            "w_h_transposed",
            "Going back, the gradient meets w_h the wrong way round.",
            "If h @ w_h.T goes forward, which matrix takes a gradient back?",
            _by_hand(_transposed),
        ),
        Mistake(
            "h_0_included",
            "There are T + 1 entries: h_0's is among them.",
            "Entry 0 belongs to the state after the first step.",
            lambda *args: torch.stack([g.norm() for g in _gradients(_states(*args))]),
        ),
        Mistake(
            "numbers_in_a_list",
            "The norms come as a list of numbers, not as a tensor.",
            "torch.stack makes one tensor of a list of tensors: leave the norms what they are.",
            lambda *args: gradient_oracle(*args).tolist(),
        ),
        Mistake(
            "tensors_in_a_list",
            "The norms come as a list of tensors, not as one tensor.",
            "torch.stack makes one tensor of a list of tensors.",
            lambda *args: list(gradient_oracle(*args)),
        ),
        Mistake(
            "last_entry_missing",
            "There are T - 1 entries: the last state's own is missing.",
            "The gradient of h_T.sum() with respect to h_T is ones, and its norm counts too.",
            lambda *args: gradient_oracle(*args)[:-1],
        ),
    ),
)
