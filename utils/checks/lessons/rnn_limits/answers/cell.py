"""The cell: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.rnn_limits.probes import PROBES

Change = Callable[[Tensor], Tensor]
Product = Callable[[Tensor, Tensor], Tensor]
# (product with the input, product with the state, bias, activation) -> state
Join = Callable[[Tensor, Tensor, Tensor, Change], Tensor]
# Bound at import: torch lacks this name while an answer is observed.
_torch_cell = torch.rnn_tanh_cell


def cell_oracle(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """Call torch's own cell, whose second bias is zero here."""
    return _torch_cell(x_t, h, w_x, w_h, b, torch.zeros_like(b))


def _times(vectors: Tensor, weights: Tensor) -> Tensor:
    return vectors @ weights.T


def _summed(x: Tensor, h: Tensor, b: Tensor, activation: Change) -> Tensor:
    return activation(x + h + b)


@by_choices
def build_cell(
    *,
    activation: Change = torch.tanh,
    of_input: Product = _times,
    of_state: Product = _times,
    weights: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] | None = None,
    bias: float = 1,
    join: Join = _summed,
    residual: bool = False,
    gives: Callable[[Tensor], Any] = lambda state: state,
) -> Callable[..., Any]:
    """Build a cell with some things done differently.

    Args:
        activation: what stands in tanh's place.
        of_input: (inputs, w_x) -> their product.
        of_state: (state, w_h) -> their product.
        weights: (inputs, state, w_x, w_h) -> the two products, if they are formed another way.
        bias: factor on the bias.
        join: how the three terms become a state.
        residual: whether the old state is added to the new one.
        gives: what is made of the state at the end.

    """

    def cell(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Any:
        terms = (of_input(x_t, w_x), of_state(h, w_h))
        terms = terms if weights is None else weights(x_t, h, w_x, w_h)
        state = join(*terms, bias * b, activation)
        return gives(state + h if residual else state)

    return cell


def _state_joined_first(x: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor) -> tuple[Tensor, Tensor]:
    joined = torch.cat([h, x], 1) @ torch.cat([w_x, w_h], 1).T
    return joined, torch.zeros_like(h)


def _half_old(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    return (h + cell_oracle(x_t, h, w_x, w_h, b)) / 2


def _input_joined_first(x: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor) -> tuple[Tensor, Tensor]:
    joined = torch.cat([x, h], 1) @ torch.cat([w_h, w_x], 1).T
    return joined, torch.zeros_like(h)


def _on_its_side(x: Tensor, h: Tensor, b: Tensor, activation: Change) -> Tensor:
    return activation(x.T + h.T + b).T


def _by_two_exponentials(total: Tensor) -> Tensor:
    up, down = total.exp(), (-total).exp()
    return (up - down) / (up + down)


def _by_one_exponential(total: Tensor) -> Tensor:
    return ((2 * total).exp() - 1) / ((2 * total).exp() + 1)


_OTHER_ORDER = (
    "Input and state are joined in one order and their weights in the other, so part of the input "
    "meets weights of the state.",
    "Whatever comes first in the vector needs its own weights first in the matrix.",
)
_PAIR = (
    "The cell returns a pair; only the state is asked for.",
    "Return one tensor: torch's own layers return pairs, this cell does not.",
)
_BIAS_OUTSIDE = (
    "The bias is added after tanh, so the state can leave the range from -1 to 1.",
    "All three terms are added before tanh.",
)
_EACH = ("tanh is applied to each product, not to their sum.", "Add first.")

EXERCISES = by_id(
    Exercise(
        PROBES["rnn_cell"],
        cell_oracle,
        (
            Mistake(
                "no_tanh",
                "The sum is returned as it is, without tanh.",
                "Without tanh nothing keeps the state between -1 and 1, and many steps together "
                "are just one matrix.",
                build_cell(activation=lambda total: total),
            ),
            Mistake(
                "tanh_of_the_old_state",
                "tanh is taken of the old state, before its product, and not of the sum.",
                "The old state has been through tanh already. Add the three terms first.",
                build_cell(
                    activation=lambda total: total, of_state=lambda h, w_h: _times(h.tanh(), w_h)
                ),
            ),
            Mistake(
                "bias_left_out",
                "The bias is not added.",
                "The formula has three terms.",
                build_cell(bias=0),
            ),
            Mistake(
                "bias_after_tanh",
                *_BIAS_OUTSIDE,
                build_cell(join=lambda x, h, b, activation: activation(x + h) + b),
            ),
            Mistake(
                "w_h_transposed",
                "w_h is used the other way round. It is square, so no error about shapes gives it "
                "away.",
                "Both matrices are (to, from), and both products have the same form.",
                build_cell(of_state=lambda h, w_h: h @ w_h),
            ),
            Mistake(
                "w_x_transposed",
                "w_x does not fit: its shape is (Hd, I), but it is used as if it were (I, Hd).",
                "A batch holds its vectors as rows, (B, I). Which form of w_x turns them into "
                "(B, Hd)?",
                build_cell(of_input=lambda x_t, w_x: x_t @ w_x),
            ),
            Mistake(
                "weights_swapped",
                "The input is multiplied by w_h and the state by w_x.",
                "w_x belongs to the input, w_h to the state.",
                build_cell(weights=lambda x, h, w_x, w_h: (x @ w_h.T, h @ w_x.T)),
            ),
            Mistake(
                "state_left_out",
                "The previous state is not used: this cell has no memory.",
                "One of the three terms is made from h.",
                build_cell(of_state=lambda h, w_h: torch.zeros_like(h)),
            ),
            Mistake(
                "input_left_out",
                "The input is not used.",
                "One of the three terms is made from x_t.",
                build_cell(of_input=lambda x_t, w_x: x_t.new_zeros(())),
            ),
            Mistake(
                "tanh_on_each_part_bias_with_input",
                *_EACH,
                build_cell(join=lambda x, h, b, activation: activation(x + b) + activation(h)),
            ),
            Mistake(
                "tanh_on_each_part_bias_with_state",
                *_EACH,
                build_cell(join=lambda x, h, b, activation: activation(x) + activation(h + b)),
            ),
            Mistake(
                "tanh_on_each_part",
                *_EACH,
                build_cell(join=lambda x, h, b, activation: activation(x) + activation(h) + b),
            ),
            Mistake("state_joined_first", *_OTHER_ORDER, build_cell(weights=_state_joined_first)),
            Mistake("input_joined_first", *_OTHER_ORDER, build_cell(weights=_input_joined_first)),
            Mistake(
                "half_of_the_old_state",
                "The new state is half of the old one and half of what tanh gives.",
                "The formula has no other way from the old state than through w_h.",
                _half_old,
            ),
            Mistake(
                "state_of_the_first_sentence",
                "All sentences go on from the first one's state.",
                "Row b of h belongs to row b of x_t: `rows @ w.T` keeps them apart.",
                build_cell(of_state=lambda h, w_h: (h[:1] @ w_h.T).expand_as(h)),
            ),
            Mistake("pair_returned", *_PAIR, build_cell(gives=lambda state: (state, state))),
            Mistake("pair_of_one_returned", *_PAIR, build_cell(gives=lambda state: (state,))),
            Mistake(
                "only_the_diagonal",
                "Only the diagonal of w_h is used, entry by entry: a unit sees itself and no "
                "other.",
                "The formula has a matrix product.",
                build_cell(of_state=lambda h, w_h: h * w_h.diagonal()),
            ),
            Mistake(
                "bias_twice",
                "The bias is added twice.",
                "F.linear adds a bias too, if it is given one. The formula has it once.",
                build_cell(bias=2),
            ),
            Mistake(
                "bias_as_a_column",
                "The bias is a column, (Hd, 1), so its entries go to the sequences of the batch, "
                "not to the units.",
                "A bias of shape (Hd,) already lines up with the last axis of (B, Hd).",
                build_cell(join=lambda x, h, b, activation: activation(x + h + b[:, None])),
            ),
            Mistake(
                "bias_along_the_batch",
                "The bias is added while the batch is the last axis, so its entries go to the "
                "sequences, not to the units.",
                "A bias of shape (Hd,) lines up with the last axis. Which axis are the units on "
                "when you add it?",
                build_cell(join=_on_its_side),
            ),
            Mistake(
                "bias_subtracted",
                "The bias is subtracted.",
                "Look at the sign between the terms.",
                build_cell(bias=-1),
            ),
            Mistake(
                "terms_subtracted",
                "The products are subtracted from one another; the formula adds them.",
                "Look at the sign between the terms.",
                build_cell(join=lambda x, h, b, activation: activation(x - h + b)),
            ),
            Mistake(
                "tanh_twice",
                "tanh is applied twice.",
                "The formula has one tanh, around the whole sum. Is there a second one on another "
                "line?",
                build_cell(gives=torch.tanh),
            ),
            Mistake(
                "state_outside_tanh",
                "The product of the state and w_h is added after tanh, so the new state can leave "
                "the range from -1 to 1.",
                "All three terms are added before tanh.",
                build_cell(join=lambda x, h, b, activation: activation(x + b) + h),
            ),
            Mistake(
                "multiplied",
                "The two products are multiplied; the formula adds them.",
                "Look at the sign between the terms.",
                build_cell(join=lambda x, h, b, activation: activation(x * h + b)),
            ),
            Mistake(
                "relu",
                "A ReLU is used where the formula has tanh.",
                "A state of this cell may be negative.",
                build_cell(activation=F.relu),
            ),
            Mistake(
                "clipped",
                "The sum is clipped at -1 and 1. In between it stays as it is, while tanh curves.",
                "tanh is smooth, and gets close to -1 and 1 without reaching them.",
                build_cell(activation=F.hardtanh),
            ),
            *(
                Mistake(
                    f"tanh_by_{name}",
                    "tanh is built from exponentials. For a large sum exp is infinite, and "
                    "infinity divided by infinity is NaN.",
                    "torch has a tanh that works for sums of any size.",
                    build_cell(activation=activation),
                )
                for name, activation in (
                    ("two_exponentials", _by_two_exponentials),
                    ("one_exponential", _by_one_exponential),
                )
            ),
            Mistake(
                "sinh",
                "This is sinh, which has no bounds: tanh is sinh divided by cosh.",
                "tanh keeps every entry of the state between -1 and 1.",
                build_cell(activation=torch.sinh),
            ),
            Mistake(
                "tanh_of_half",
                "This is tanh of half the sum.",
                "By the sigmoid, tanh(z) is 2 sigmoid(2 z) - 1: count the twos.",
                build_cell(activation=lambda total: torch.tanh(total / 2)),
            ),
            Mistake(
                "sigmoid",
                "A sigmoid is used where the formula has tanh.",
                "A state of this cell may be negative.",
                build_cell(activation=torch.sigmoid),
            ),
            Mistake(
                "state_added_again",
                "The old state is added to the new one.",
                "The old state comes in through w_h only.",
                build_cell(residual=True),
            ),
        ),
    ),
)
