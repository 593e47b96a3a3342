"""Gradients through time: right answers and common mistakes."""

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.rnn_limits.answers.recording import RECORDING
from utils.checks.lessons.rnn_limits.answers.recurrence import forward_oracle
from utils.checks.lessons.rnn_limits.probes import PROBES
from utils.reference.recurrence import reference_forward

Norm = Callable[[Tensor], Tensor]
Gradients = list[Tensor]
StepBack = Callable[[Tensor, Tensor, Tensor], Tensor]
StepIn = Callable[[Tensor, Tensor], Tensor]


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


def _ones(h: Tensor) -> Tensor:
    return torch.ones_like(h)


def _slope(h: Tensor, _before: Tensor) -> Tensor:
    return 1 - h**2


def _step_back(gradient: Tensor, slope: Tensor, w_h: Tensor) -> Tensor:
    return (gradient * slope) @ w_h


def _slope_last(gradient: Tensor, slope: Tensor, w_h: Tensor) -> Tensor:
    return (gradient @ w_h) * slope


def _one_step(gradient: Tensor, slope: Tensor, w_h: Tensor) -> Tensor:
    return (torch.ones_like(gradient) * slope) @ w_h


def _from_the_first(states: Gradients, _inputs: Gradients) -> Gradients:
    return states[1:]


@by_choices
def _norms(
    *,
    start: Callable[[Tensor], Tensor] = _ones,
    every: bool = False,
    slope: Callable[[Tensor, Tensor], Tensor] = _slope,
    back: StepBack = _step_back,
    into: StepIn = torch.matmul,
    of: Callable[[Gradients, Gradients], Gradients] = _from_the_first,
    norm: Norm = torch.norm,
    after: Norm = lambda norms: norms,
    gives: Callable[[Tensor], Any] = lambda norms: norms,
) -> Callable[..., Any]:
    """Build a backward pass by hand with some things done differently.

    Args:
        start: h_T -> the gradient of what is differentiated.
        every: whether all states are differentiated, not h_T alone.
        slope: (state, state before) -> the slope of tanh between them.
        back: (gradient of a state, slope, w_h) -> gradient of the state before.
        into: (gradient of the sum inside tanh, w_x) -> that of what is fed into a step.
        of: (gradients of h_0 to h_T, gradients of the inputs) -> those that are measured.
        norm: gradient (B, Hd) -> its size.
        after: what is done to all sizes then.
        gives: what is made of them at the end.

    """

    def norms(x: Tensor, h_0: Tensor, *weights: Tensor) -> Any:
        w_x, w_h, b = (w.detach() for w in weights)
        states = [h_0, *reference_forward(x, h_0, w_x, w_h, b)[0].unbind(1)]
        found = [start(states[-1])]
        inputs: Gradients = []
        for before, h in reversed(list(itertools.pairwise(states))):
            steep = slope(h, before)
            inputs.insert(0, into(found[0] * steep, w_x))
            found.insert(0, back(found[0], steep, w_h) + every)
        return gives(after(torch.stack([norm(g) for g in of(found, inputs)])))

    return norms


def _radius(w_h: Tensor) -> Tensor:
    radius: Tensor = torch.linalg.eigvals(w_h).abs().amax()
    return radius


def _most_stretch(w_h: Tensor) -> Tensor:
    stretch: Tensor = torch.linalg.matrix_norm(w_h, ord=2)
    return stretch


def _powers(size: Callable[[Tensor], Tensor], start: Norm) -> Callable[..., Tensor]:
    """Build powers of a number of w_h in the place of a measurement, from the last step's on."""

    def powers(x: Tensor, h_0: Tensor, _w_x: Tensor, w_h: Tensor, _b: Tensor) -> Tensor:
        back = torch.arange(x.shape[1]).flip(0)
        return start(torch.ones_like(h_0)) * size(w_h.detach()) ** back

    return powers


def _lengths_of_states(x: Tensor, h_0: Tensor, *weights: Tensor) -> Tensor:
    states = reference_forward(x, h_0, *weights)[0].detach()
    return torch.stack([h.norm() for h in states.unbind(1)])


_FOR_EACH_SEQUENCE = (
    "There is a norm for every sequence of the batch.",
    "One norm over batch and units together: T numbers in all.",
)
_TWO_NORM = "The 2-norm is the root of the sum of squares."

GRADIENT = Exercise(
    PROBES["gradient_through_time"],
    gradient_oracle,
    (
        *(
            Mistake(
                f"one_step_alone{name}",
                "Each state is differentiated with respect to the one just before it: that is one "
                "step, not the whole way from the end.",
                "h_T is what you differentiate, with respect to every state.",
                _norms(back=_one_step, of=of),
            )
            for name, of in (
                ("", _from_the_first),
                ("_from_h_0", lambda states, inputs: states[:-1]),
            )
        ),
        Mistake(
            "one_state_early",
            "These are the gradients of the states *before* each step, h_0 first.",
            "The last entry is the gradient of h_T with respect to itself: ones.",
            _norms(of=lambda states, inputs: states[:-1]),
        ),
        Mistake(
            "wrong_order",
            "The entries run from the last step to the first.",
            "Entry 0 belongs to the state after the first step.",
            _norms(after=lambda norms: norms.flip(0)),
        ),
        Mistake(
            "gradient_of_all_states",
            "All states are summed; the question is about the last one alone.",
            "Differentiate h_T.sum().",
            _norms(every=True),
        ),
        Mistake(
            "with_respect_to_inputs",
            "These are gradients with respect to the inputs x_t, not to the states.",
            "You can differentiate with respect to the states in between too: torch.autograd.grad "
            "takes a list of them.",
            _norms(of=lambda states, inputs: inputs),
        ),
        Mistake(
            "with_respect_to_sums",
            "These are gradients with respect to the sums inside tanh, not to the states: each "
            "has one slope of tanh too many.",
            "Differentiate with respect to what comes out of tanh.",
            _norms(of=lambda states, inputs: inputs, into=lambda gradient, w_x: gradient),
        ),
        Mistake(
            "through_a_stacked_copy",
            "Only the last gradient is there: no gradient of h_T reaches the states before it.",
            "The tensors that you differentiate with respect to must be the very ones that the "
            "next step reads: nothing leads from h_T back to a detached copy, or to a slice of a "
            "stack made afterwards.",
            _norms(back=lambda gradient, slope, w_h: torch.zeros_like(gradient)),
        ),
        Mistake(
            "of_the_norm",
            "The norm of h_T is differentiated, not the sum of its entries.",
            "First the gradient of h_T.sum(), then the norm of that gradient.",
            _norms(start=lambda h: h / h.norm()),
        ),
        Mistake(
            "of_the_mean",
            "The mean of h_T is differentiated, not the sum of its entries: everything is divided "
            "by their number.",
            "Differentiate h_T.sum().",
            _norms(start=lambda h: torch.full_like(h, 1 / h.numel())),
        ),
        *RECORDING,
        Mistake(
            "squared",
            "These are squared norms.",
            _TWO_NORM,
            _norms(norm=lambda g: (g**2).sum()),
        ),
        Mistake(
            "sum_of_absolutes",
            "These are sums of absolute values (the 1-norm).",
            _TWO_NORM,
            _norms(norm=lambda g: g.abs().sum()),
        ),
        Mistake(
            "largest_singular_value",
            "The largest singular value of each gradient is taken: that is the 2-norm of a matrix.",
            "The exercise asks for the 2-norm of all entries as one long vector. "
            "torch.linalg.norm with ord=2 treats two axes as a matrix.",
            _norms(norm=lambda g: torch.linalg.matrix_norm(g, ord=2)),
        ),
        Mistake(
            "largest_entry",
            "These are the largest entries.",
            _TWO_NORM,
            _norms(norm=lambda g: g.abs().max()),
        ),
        Mistake(
            "plain_sum",
            "The entries are summed with their signs, so they cancel.",
            _TWO_NORM,
            _norms(norm=torch.sum),
        ),
        Mistake(
            "mean_over_batch",
            "Each sequence's norm is taken, and then their mean.",
            "One norm over batch and units together.",
            _norms(norm=lambda g: g.norm(dim=-1).mean()),
        ),
        Mistake(
            "summed_over_batch",
            "Each sequence's norm is taken, and then their sum.",
            "One norm over batch and units together.",
            _norms(norm=lambda g: g.norm(dim=-1).sum()),
        ),
        *(
            Mistake(
                f"{name}_over_batch_first",
                f"The sequences' gradients are {name} before the norm, and cancel one another.",
                "One norm over batch and units together: all entries are squared, then added.",
                _norms(norm=norm),
            )
            for name, norm in (
                ("summed", lambda g: g.sum(0).norm()),
                ("averaged", lambda g: g.mean(0).norm()),
            )
        ),
        Mistake(
            "one_norm_per_sequence",
            *_FOR_EACH_SEQUENCE,
            _norms(norm=lambda g: g.norm(dim=-1), gives=lambda norms: norms.T),
        ),
        Mistake(
            "one_norm_per_sequence_steps_first",
            *_FOR_EACH_SEQUENCE,
            _norms(norm=lambda g: g.norm(dim=-1)),
        ),
        Mistake(
            "one_norm_per_unit",
            "There is a norm for every unit of the state.",
            "One norm over batch and units together: T numbers in all.",
            _norms(norm=lambda g: g.norm(dim=0)),
        ),
        Mistake(
            "mean_of_absolutes",
            "These are absolute values, summed and divided by their number.",
            _TWO_NORM,
            _norms(norm=lambda g: g.abs().mean()),
        ),
        Mistake(
            "mean_of_squares",
            "These are squares, summed and divided by their number.",
            _TWO_NORM,
            _norms(norm=lambda g: (g**2).mean()),
        ),
        Mistake(
            "first_sequence_alone",
            "Only the first sequence of the batch is measured.",
            "One norm over batch and units together.",
            _norms(norm=lambda g: g[0].norm()),
        ),
        Mistake(
            "relative_to_the_last",
            "All norms are divided by the last one, which is the root of a state's number of "
            "entries. Taking the mean of the squares does that as well.",
            "Squares, sum, root: nothing is divided.",
            _norms(after=lambda norms: norms / norms[-1]),
        ),
        *(
            Mistake(
                f"powers_of_the_{name}{end}",
                f"These are powers of w_h's {said}, not measured gradients: they leave out the "
                "slope of tanh and the direction of the gradient.",
                "Run the network on x. What comes back depends on the states on the way.",
                _powers(size, start),
            )
            for name, said, size in (
                ("radius", "spectral radius", _radius),
                ("stretch", "largest singular value", _most_stretch),
            )
            for end, start in (("", torch.norm), ("_from_one", lambda ones: ones.new_ones(())))
        ),
        *(
            Mistake(
                f"slope_without_the_square{name}",
                f"The slope of tanh is taken to be 1 - {h}; the square is missing.",
                "The slope of tanh at a state h is 1 - h².",
                _norms(slope=slope),
            )
            for name, h, slope in (
                ("", "h", lambda h, before: 1 - h),
                ("_of_sizes", "|h|", lambda h, before: 1 - h.abs()),
            )
        ),
        Mistake(
            "slope_of_tanh_left_out",
            "The gradient goes through w_h at every step, but not through tanh.",
            "The slope of tanh at a state h is 1 - h².",
            _norms(slope=lambda h, before: torch.ones_like(h)),
        ),
        Mistake(
            "matrix_left_out",
            "The gradient goes through the slope of tanh at every step, but not through w_h.",
            "A state reaches the next one through w_h: so does the gradient, on its way back.",
            _norms(back=lambda gradient, slope, w_h: gradient * slope),
        ),
        Mistake(
            "states_measured",
            "These are the lengths of the states themselves.",
            "The exercise asks for the norm of the gradient with respect to each state.",
            _lengths_of_states,
        ),
        Mistake(
            "slope_of_the_state_before",
            "The slope of tanh is taken at the state that the gradient goes to, one step early.",
            "The tanh between two states produced the later one, so the h in its slope, 1 - h², "
            "is the later state.",
            _norms(slope=lambda h, before: 1 - before**2),
        ),
        Mistake(
            "slope_after_the_matrix",
            "Going back, the gradient goes through w_h first and through the slope of tanh after "
            "it.",
            "Going forward, w_h comes before tanh. Going back, the order is reversed.",
            _norms(back=_slope_last),
        ),
        Mistake(
            "slope_one_place_on",
            "The gradient goes through w_h first and then through the slope of tanh at the state "
            "before, so it ends inside the previous step.",
            "Going forward, w_h comes before tanh. On the way back from a state, its own tanh "
            "comes first.",
            _norms(slope=lambda h, before: 1 - before**2, back=_slope_last),
        ),
        Mistake(
            "w_h_transposed",
            "Going back, the gradient is multiplied by w_h the wrong way round.",
            "If h @ w_h.T goes forward, which matrix takes a gradient back?",
            _norms(back=lambda gradient, slope, w_h: (gradient * slope) @ w_h.T),
        ),
        Mistake(
            "h_0_included",
            "There are T + 1 entries: one of them belongs to h_0.",
            "Entry 0 belongs to the state after the first step.",
            _norms(of=lambda states, inputs: states),
        ),
        Mistake(
            "numbers_in_a_list",
            "The norms come as a list of numbers, not as a tensor.",
            "torch.stack makes one tensor of a list of tensors: leave the norms as tensors.",
            _norms(gives=lambda norms: norms.tolist()),
        ),
        Mistake(
            "tensors_in_a_list",
            "The norms come as a list of tensors, not as one tensor.",
            "torch.stack makes one tensor of a list of tensors.",
            _norms(gives=list),
        ),
        Mistake(
            "last_entry_missing",
            "There are T - 1 entries: the last state's own is missing.",
            "The gradient of h_T.sum() with respect to h_T is ones, and its norm counts too.",
            _norms(of=lambda states, inputs: states[1:-1]),
        ),
    ),
)

EXERCISES = by_id(GRADIENT)
