"""The unrolled cell: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.rnn_limits.answers.cell import build_cell
from utils.checks.lessons.rnn_limits.probes import PROBES
from utils.reference.recurrent_cell import reference_cell

# Bound at import: torch lacks this name while an answer is observed.
_torch_forward = torch.rnn_tanh


def forward_oracle(
    x: Tensor, h_0: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor
) -> tuple[Tensor, Tensor]:
    """Call torch's own recurrent layer."""
    weights = [w_x, w_h, b, torch.zeros_like(b)]
    states, last = _torch_forward(x, h_0[None], weights, True, 1, 0.0, False, False, True)
    return states, last[0]


Layout = Callable[[Tensor], Tensor]


def _beside(states: list[Tensor]) -> Tensor:
    return torch.stack(states, 1)


@by_choices
def _forward(
    *,
    cell: Any = reference_cell,
    x: Layout = lambda x: x,
    start: Layout = lambda h_0: h_0,
    before: Callable[[Tensor, Tensor], Tensor] = lambda h, h_0: h,
    kept: Callable[[list[Tensor], Tensor], list[Tensor]] = lambda states, h_0: states,
    stack: Callable[[list[Tensor]], Any] = _beside,
    last: Callable[[list[Tensor]], Tensor] = lambda states: states[-1],
    gives: Callable[[Any, Any], Any] = lambda states, h_t: (states, h_t),
) -> Callable[..., Any]:
    """Build an unrolling with some things done differently.

    Args:
        cell: another cell.
        x: what is done to the inputs first.
        start: h_0 -> the state before the first step.
        before: (state, h_0) -> the state that a step is given.
        kept: (states after each step, h_0) -> the states that are kept.
        stack: how the kept states become a tensor.
        last: states after each step -> h_T.
        gives: (states, h_T) -> what is returned.

    """

    def forward(inputs: Tensor, h_0: Tensor, *weights: Tensor) -> Any:
        h, states = start(h_0), []
        for x_t in x(inputs).unbind(1):
            h = cell(x_t, before(h, h_0), *weights)
            states.append(h)
        return gives(stack(kept(states, h_0)), last(states or [h]))

    return forward


def _w_h_transposed(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    return reference_cell(x_t, h, w_x, w_h.T, b)


def _all_last(states: list[Tensor], _h_0: Tensor) -> list[Tensor]:
    return [states[-1]] * len(states)


def _stacked_and_viewed(states: list[Tensor]) -> Tensor:
    return torch.stack(states).view(len(states[0]), len(states), -1)


def _reshaped(x: Tensor) -> Tensor:
    return x.reshape(x.shape[1], x.shape[0], x.shape[2]).transpose(0, 1)


def _after_zeros(x: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1)


def _handed_to_the_next_sentence(x: Tensor, h_0: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
    rows, h = [], h_0[:1]
    for sentence in x.split(1):  # type: ignore[no-untyped-call]
        states, h = _forward()(sentence, h, *weights)
        rows.append(states)
    found = torch.cat(rows)
    return found, found[:, -1]


def _guessed_layout(x: Tensor) -> Tensor:
    return x.transpose(0, 1) if len(x) < x.shape[1] else x


_ORDER = (
    "The sequence is read from its end to its beginning.",
    "Step t reads x[:, t], and t counts up from 0.",
)
_ONE_AXIS = (
    "The states are joined along an axis that already exists, so time has no axis of its own.",
    "cat joins along an existing axis; stack makes a new one.",
)


def _sequence_for_step(x: Tensor, h_0: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
    states = [h_0]
    for t in range(x.shape[1]):
        states.append(reference_cell(x[t], states[-1], *weights))
    return torch.stack(states[1:], 1), states[-1]


def _sentences_for_steps(x: Tensor, h_0: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
    h, rows = h_0[:1], []
    for sentence in x:
        h = reference_cell(sentence, h, *weights)
        rows.append(h)
    states = torch.stack(rows)
    return states, states[:, -1]


EXERCISES = by_id(
    Exercise(
        PROBES["rnn_forward"],
        forward_oracle,
        (
            Mistake(
                "sentences_for_steps",
                "The steps run over the sentences: each call reads all tokens of one, and its "
                "state goes on to the next sentence.",
                "x is (B, T, I), and its first axis is that of the sentences. A step reads "
                "x[:, t], one token of every sentence.",
                _sentences_for_steps,
            ),
            Mistake(
                "one_tensor_for_all_states",
                "All states are equal to the last one: the same tensor is stored every time.",
                "Every step needs a tensor of its own. A tensor that is changed in place changes "
                "everywhere it was stored.",
                _forward(kept=_all_last),
            ),
            Mistake(
                "first_step_left_out",
                "The first step is not taken: h_0 stands in its place, and the first token is "
                "never read.",
                "T tokens are T steps, and the first one reads x[:, 0].",
                _forward(x=lambda x: x[:, 1:], kept=lambda states, h_0: [h_0, *states]),
            ),
            Mistake(
                "inputs_one_step_ahead",
                "Every step reads the input of the next one.",
                "Step t reads x[:, t], the first one x[:, 0].",
                _forward(x=lambda x: torch.cat([x[:, 1:], x[:, -1:]], 1)),
            ),
            Mistake(
                "handed_to_the_next_sentence",
                "A sentence begins with the last state of the one before it.",
                "The sentences of a batch have nothing to do with each other: each begins with "
                "its own row of h_0.",
                _handed_to_the_next_sentence,
            ),
            Mistake(
                "state_not_carried",
                "Every step starts from h_0 again, so nothing is remembered.",
                "What a step returns is the next step's `h`.",
                _forward(before=lambda h, h_0: h_0),
            ),
            Mistake(
                "states_one_step_late",
                "The states begin with h_0 and lack the last one.",
                "Entry t is the state *after* step t: append after the step, not before.",
                _forward(kept=lambda states, h_0: [h_0, *states[:-1]]),
            ),
            Mistake(
                "h_0_among_the_states",
                "There is one state too many: h_0 is among them.",
                "T tokens give T states; h_0 was there before the first token.",
                _forward(kept=lambda states, h_0: [h_0, *states]),
            ),
            Mistake(
                "h_0_ignored",
                "The network starts from zeros, whatever h_0 is.",
                "The first step's `h` is h_0.",
                _forward(start=torch.zeros_like),
            ),
            Mistake(
                "first_start_for_all",
                "All sequences start from the first one's state.",
                "h_0 is (B, Hd): sequence b starts from row b. An index such as h_0[0] picks a "
                "single row.",
                _forward(start=lambda h_0: h_0[:1].expand_as(h_0)),
            ),
            Mistake(
                "from_the_end",
                *_ORDER,
                _forward(x=lambda x: x.flip(1), kept=lambda states, h_0: states[::-1]),
            ),
            Mistake(
                "from_the_end_and_stored_so",
                *_ORDER,
                _forward(x=lambda x: x.flip(1)),
            ),
            Mistake(
                "states_in_backward_order",
                "The steps are right, and the states are stored from the last to the first.",
                "Entry t is the state after step t: append it, don't insert it at the front.",
                _forward(kept=lambda states, h_0: states[::-1]),
            ),
            Mistake(
                "states_on_the_last_axis",
                "The steps are on the last axis of the states: (B, Hd, T).",
                "Batch first, then time: stack along axis 1.",
                _forward(stack=lambda states: torch.stack(states, -1)),
            ),
            Mistake(
                "states_in_a_list",
                "The states come as a list, not as one tensor.",
                "torch.stack makes one tensor of a list of tensors.",
                _forward(stack=list),
            ),
            Mistake(
                "states_joined_along_the_units",
                *_ONE_AXIS,
                _forward(stack=lambda states: torch.cat(states, 1)),
            ),
            Mistake(
                "states_joined_along_the_batch",
                *_ONE_AXIS,
                _forward(stack=torch.cat),
            ),
            Mistake(
                "first_state_for_the_last",
                "Your h_T is the state after the first step.",
                "h_T should be the state after the last step.",
                _forward(last=lambda states: states[0]),
            ),
            Mistake(
                "mean_state_for_the_last",
                "Your h_T is the mean of all states.",
                "h_T should be the state after the last step.",
                _forward(last=lambda states: torch.stack(states).mean(0)),
            ),
            Mistake(
                "time_axis_left",
                "h_T keeps a time axis of size one.",
                "A slice ([:, -1:]) keeps the axis, an index ([:, -1]) drops it: h_T is (B, Hd).",
                _forward(last=lambda states: states[-1][:, None]),
            ),
            Mistake(
                "first_token_at_every_step",
                "Every step reads the first token.",
                "Step t reads x[:, t].",
                _forward(x=lambda x: x[:, :1].expand_as(x)),
            ),
            *(
                Mistake(
                    f"inputs_one_step_late{name}",
                    f"Each step reads the token before its own; the first step reads {first}.",
                    "Step t reads x[:, t], and index -1 is the last token.",
                    _forward(x=late),
                )
                for name, first, late in (
                    ("", "the last token", lambda x: x.roll(1, 1)),
                    ("_after_zeros", "zeros", _after_zeros),
                    ("_after_the_first", "its own", lambda x: torch.cat([x[:, :1], x[:, :-1]], 1)),
                )
            ),
            Mistake(
                "inputs_one_step_early",
                "Each step reads the token after its own; the last step reads the first token.",
                "Step t reads x[:, t].",
                _forward(x=lambda x: x.roll(-1, 1)),
            ),
            Mistake(
                "reshaped_instead_of_transposed",
                "x was reshaped to (T, B, I), which swaps no axes: tokens of different sequences "
                "are mixed.",
                "A new form of the same numbers keeps their order. Which function swaps two axes?",
                _forward(x=_reshaped),
            ),
            Mistake(
                "layout_guessed_from_sizes",
                "Where there are fewer sequences than tokens, the two axes of x are swapped.",
                "Sizes do not tell which axis is time: x is (B, T, I), whatever they are.",
                _forward(x=_guessed_layout),
            ),
            Mistake(
                "last_step_left_out",
                "The last step is not taken, and its place in the states is still zero.",
                "T tokens are T steps, and the last one, counted from 0, is T - 1.",
                _forward(
                    x=lambda x: x[:, :-1],
                    kept=lambda states, h_0: [*states, torch.zeros_like(h_0)],
                ),
            ),
            Mistake(
                "bias_left_out",
                "The steps leave out the bias.",
                "Use your rnn_cell at each step, with all its arguments.",
                _forward(cell=build_cell(bias=0)),
            ),
            Mistake(
                "time_axis_first",
                "The states' axes are (T, B, Hd).",
                "Batch first: stack along axis 1.",
                _forward(stack=torch.stack),
            ),
            Mistake(
                "states_viewed_instead_of_transposed",
                "The states are stacked as (T, B, Hd) and then reshaped to (B, T, Hd), which "
                "swaps no axes: states of different sequences are mixed.",
                "A new form of the same numbers keeps their order. Along which axis should "
                "you stack?",
                _forward(stack=_stacked_and_viewed),
            ),
            Mistake(
                "swapped_results",
                "The two results are returned in the wrong order.",
                "Return (states, h_T).",
                _forward(gives=lambda states, h_t: (h_t, states)),
            ),
            Mistake(
                "last_state_twice",
                "The last state is returned in place of all the states.",
                "Each step's state is kept: append it to a list, and stack the list.",
                _forward(gives=lambda states, h_t: (h_t, h_t)),
            ),
            Mistake(
                "size_one_axis_left",
                "h_T has an extra axis of size one, like the one nn.RNN has for its layers.",
                "h_T is (B, Hd).",
                _forward(last=lambda states: states[-1][None]),
            ),
            Mistake(
                "last_sequence_for_last_step",
                "h_T is taken along the batch: these are all states of the last sequence.",
                "In a tensor (B, T, Hd) the steps are on the second axis: [-1] alone takes from "
                "the first.",
                _forward(gives=lambda states, h_t: (states, states[-1])),
            ),
            Mistake(
                "one_step_too_few",
                "It ends one step early: the last token is not read.",
                "T tokens are T steps, and the last one, counted from 0, is T - 1.",
                _forward(x=lambda x: x[:, :-1]),
            ),
            Mistake(
                "detached_between_steps",
                "The numbers are right, but the gradient stops between steps, so training cannot "
                "learn how an early token affects a late state.",
                "Look for detach(), .data or no_grad on the state.",
                _forward(before=lambda h, h_0: h.detach()),
            ),
            Mistake(
                "no_tanh",
                "The states are sums without tanh.",
                "Use your rnn_cell at each step.",
                _forward(cell=build_cell(activation=lambda total: total)),
            ),
            Mistake(
                "w_h_transposed",
                "w_h is used the other way round. It is square, so no error about shapes gives it "
                "away.",
                "Use your rnn_cell at each step, or look at its formula again.",
                _forward(cell=_w_h_transposed),
            ),
            *(
                Mistake(
                    f"batch_taken_for_time{name}",
                    "The steps run over the sequences of the batch, not over their tokens.",
                    "x is (B, T, I): time is its second axis.",
                    _forward(x=lambda x: x.transpose(0, 1), stack=stack),
                )
                for name, stack in (("", _beside), ("_and_stacked_so", torch.stack))
            ),
            Mistake(
                "steps_taken_from_the_batch",
                "x[t] is sequence t, not step t.",
                "x is (B, T, I): time is its second axis.",
                _sequence_for_step,
            ),
            Mistake(
                "only_the_states",
                "The last state is not returned on its own.",
                "Return a pair: all states, and the last one.",
                _forward(gives=lambda states, h_t: states),
            ),
        ),
    ),
)
