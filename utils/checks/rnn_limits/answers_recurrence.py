"""The cell and its unrolling: what is right and commonly wrong."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.exercise import Exercise, Mistake
from utils.checks.rnn_limits.probes import PROBES
from utils.checks.rnn_limits.reference import reference_cell, reference_forward

_PROBES = {probe.exercise: probe for probe in PROBES}
Activation = Callable[[Tensor], Tensor]
# Taken now: while an answer is observed these names are absent from torch.
_torch_cell, _torch_forward = torch.rnn_tanh_cell, torch.rnn_tanh


def cell_oracle(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """Torch's own cell, which has two biases."""
    return _torch_cell(x_t, h, w_x, w_h, b, torch.zeros_like(b))


def forward_oracle(
    x: Tensor, h_0: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor
) -> tuple[Tensor, Tensor]:
    """Torch's own recurrent layer."""
    weights = [w_x, w_h, b, torch.zeros_like(b)]
    states, last = _torch_forward(x, h_0[None], weights, True, 1, 0.0, False, False, True)
    return states, last[0]


def _cell(activation: Activation = torch.tanh, *, x: float = 1, h: float = 1, b: float = 1) -> Any:
    """A cell with another activation or some of its three terms weighted."""

    def cell(x_t: Tensor, h_before: Tensor, w_x: Tensor, w_h: Tensor, bias: Tensor) -> Tensor:
        return activation(x * (x_t @ w_x.T) + h * (h_before @ w_h.T) + b * bias)

    return cell


def _tanh_each(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    return (x_t @ w_x.T).tanh() + (h @ w_h.T).tanh() + b


def _tanh_each_bias_with_state(
    x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor
) -> Tensor:
    return (x_t @ w_x.T).tanh() + (h @ w_h.T + b).tanh()


def _tanh_each_bias_with_input(
    x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor
) -> Tensor:
    return (x_t @ w_x.T + b).tanh() + (h @ w_h.T).tanh()


def _state_outside(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    return (x_t @ w_x.T + b).tanh() + h @ w_h.T


def _bias_outside(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    return (x_t @ w_x.T + h @ w_h.T).tanh() + b


def _multiplied(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    return ((x_t @ w_x.T) * (h @ w_h.T) + b).tanh()


def _forward(cell: Any = reference_cell, *, carried: bool = True, detached: bool = False) -> Any:
    """An unrolling with another cell, or whose steps are tied together differently."""

    def forward(
        x: Tensor, h_0: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor
    ) -> tuple[Tensor, Tensor]:
        h, states = h_0, []
        for x_t in x.unbind(1):
            before = h if carried else h_0
            h = cell(x_t, before.detach() if detached else before, w_x, w_h, b)
            states.append(h)
        return torch.stack(states, 1), h

    return forward


def _aliased(x: Tensor, h_0: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
    last = reference_forward(x, h_0, *weights)[1]
    return last[:, None].expand(-1, x.shape[1], -1), last


def _states_before(x: Tensor, h_0: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
    states, last = reference_forward(x, h_0, *weights)
    return torch.cat([h_0[:, None], states[:, :-1]], 1), last


def _first_state_kept(x: Tensor, h_0: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
    states, last = reference_forward(x, h_0, *weights)
    return torch.cat([h_0[:, None], states], 1), last


def _from_the_end(x: Tensor, h_0: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
    states, last = reference_forward(x.flip(1), h_0, *weights)
    return states.flip(1), last


def _time_first(x: Tensor, h_0: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
    states, last = reference_forward(x, h_0, *weights)
    return states.transpose(0, 1), last


def _along_the_batch(x: Tensor, h_0: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
    return reference_forward(x.transpose(0, 1), h_0, *weights)


def _layers_axis_kept(*args: Tensor) -> tuple[Tensor, Tensor]:
    states, last = reference_forward(*args)
    return states, last[None]


def _last_of_the_batch(*args: Tensor) -> tuple[Tensor, Tensor]:
    states = reference_forward(*args)[0]
    return states, states[-1]


RECURRENCE = (
    Exercise(
        _PROBES["rnn_cell"],
        cell_oracle,
        (
            Mistake(
                "no_tanh",
                "The sum comes back as it is, without tanh.",
                "Without tanh the state is not kept between -1 and 1, and many steps are no more "
                "than one matrix.",
                _cell(lambda total: total),
            ),
            Mistake(
                "bias_left_out",
                "The bias is not added.",
                "The formula has three terms.",
                _cell(b=0),
            ),
            Mistake(
                "bias_after_tanh",
                "The bias is added after tanh, so the state can leave the range from -1 to 1.",
                "All three terms are added before tanh.",
                _bias_outside,
            ),
            Mistake(
                "w_h_transposed",
                "w_h is used the other way round. It is square, so the shapes do not complain.",
                "Both matrices are (to, from), and both products have the same form.",
                lambda x, h, w_x, w_h, b: reference_cell(x, h, w_x, w_h.T, b),
            ),
            Mistake(
                "w_x_transposed",
                "w_x does not fit: its shape is (Hd, I), and it is used as if it were (I, Hd).",
                "A batch holds its vectors as rows, (B, I). Which form of w_x turns them into "
                "(B, Hd)?",
                lambda x, h, w_x, w_h, b: (x @ w_x + h @ w_h.T + b).tanh(),
            ),
            Mistake(
                "weights_swapped",
                "Inputs meet w_h and states meet w_x.",
                "w_x belongs to the input, w_h to the state.",
                lambda x, h, w_x, w_h, b: (x @ w_h.T + h @ w_x.T + b).tanh(),
            ),
            Mistake(
                "state_left_out",
                "The state before does not take part: this cell has no memory.",
                "One of the three terms is made of h.",
                _cell(h=0),
            ),
            Mistake(
                "input_left_out",
                "The input does not take part.",
                "One of the three terms is made of x_t.",
                _cell(x=0),
            ),
            *(
                Mistake(
                    name, "tanh is taken of each product, not of their sum.", "Add first.", cell
                )
                for name, cell in (
                    ("tanh_on_each_part", _tanh_each),
                    ("tanh_on_each_part_bias_with_state", _tanh_each_bias_with_state),
                    ("tanh_on_each_part_bias_with_input", _tanh_each_bias_with_input),
                )
            ),
            Mistake(
                "tanh_twice",
                "tanh is taken twice.",
                "The formula has one tanh, around the whole sum. Does a second one stand in "
                "another line?",
                lambda *args: reference_cell(*args).tanh(),
            ),
            Mistake(
                "state_outside_tanh",
                "The product of the state and w_h is added after tanh, so the new state can leave "
                "the range from -1 to 1.",
                "All three terms are added before tanh.",
                _state_outside,
            ),
            Mistake(
                "multiplied",
                "The two products are multiplied; the formula adds them.",
                "Look at the sign between the terms.",
                _multiplied,
            ),
            Mistake(
                "relu",
                "A ReLU stands where tanh should.",
                "A state of this cell may be negative.",
                _cell(F.relu),
            ),
            Mistake(
                "sigmoid",
                "A sigmoid stands where tanh should.",
                "A state of this cell may be negative.",
                _cell(torch.sigmoid),
            ),
            Mistake(
                "state_added_again",
                "The old state is added to the new one.",
                "The old state takes part through w_h alone.",
                lambda x, h, *weights: h + reference_cell(x, h, *weights),
            ),
        ),
    ),
    Exercise(
        _PROBES["rnn_forward"],
        forward_oracle,
        (
            Mistake(
                "one_tensor_for_all_states",
                "All states are equal to the last one: one tensor stands there many times.",
                "Every step needs a tensor of its own; one that is changed in place changes "
                "wherever it was put.",
                _aliased,
            ),
            Mistake(
                "state_not_carried",
                "Every step starts from h_0 again, so nothing is remembered.",
                "What a step returns is the next step's `h`.",
                _forward(carried=False),
            ),
            Mistake(
                "states_one_step_late",
                "The states begin with h_0 and lack the last one.",
                "Entry t is the state *after* step t: append after the step, not before.",
                _states_before,
            ),
            Mistake(
                "h_0_among_the_states",
                "There is one state too many: h_0 is among them.",
                "T tokens give T states; h_0 was there before the first token.",
                _first_state_kept,
            ),
            Mistake(
                "h_0_ignored",
                "The network starts from zeros, whatever h_0 is.",
                "The first step's `h` is h_0.",
                lambda x, h_0, *w: reference_forward(x, torch.zeros_like(h_0), *w),
            ),
            Mistake(
                "from_the_end",
                "The sequence is read from its end.",
                "Step t reads x[:, t], with t rising.",
                _from_the_end,
            ),
            Mistake(
                "time_axis_first",
                "The states' axes are (T, B, Hd).",
                "Batch first: stack along axis 1.",
                _time_first,
            ),
            Mistake(
                "swapped_results",
                "The results come in the wrong order.",
                "Return (states, h_T).",
                lambda *args: reference_forward(*args)[::-1],
            ),
            Mistake(
                "size_one_axis_left",
                "h_T keeps an axis of size one, as nn.RNN's has for its layers.",
                "h_T is (B, Hd).",
                _layers_axis_kept,
            ),
            Mistake(
                "last_sequence_for_last_step",
                "h_T is taken along the batch: these are all states of the last sequence.",
                "In a tensor (B, T, Hd) the steps are on the second axis: [-1] alone takes from "
                "the first.",
                _last_of_the_batch,
            ),
            Mistake(
                "one_step_too_few",
                "The loop ends one step early: the last token is not read.",
                "T tokens are T steps, and range(T) counts from 0 to T - 1 by itself.",
                lambda x, *rest: reference_forward(x[:, :-1], *rest),
            ),
            Mistake(
                "detached_between_steps",
                "The numbers are right, but the gradient stops between steps: nothing is learned "
                "about what an early token does to a late state.",
                "Look for detach(), .data or no_grad on the state.",
                _forward(detached=True),
            ),
            Mistake(
                "no_tanh",
                "The states are sums without tanh.",
                "Use your rnn_cell at each step.",
                _forward(_cell(lambda total: total)),
            ),
            Mistake(
                "w_h_transposed",
                "w_h is used the other way round. It is square, so the shapes do not complain.",
                "Use your rnn_cell at each step, or look at its formula again.",
                lambda x, h_0, w_x, w_h, b: reference_forward(x, h_0, w_x, w_h.T, b),
            ),
            Mistake(
                "batch_taken_for_time",
                "The loop runs over the sequences of the batch, not over their tokens.",
                "x is (B, T, I): time is its second axis.",
                _along_the_batch,
            ),
            Mistake(
                "only_the_states",
                "The last state does not come back on its own.",
                "Return a pair: all states, and the last one.",
                lambda *args: reference_forward(*args)[0],
            ),
        ),
    ),
)
