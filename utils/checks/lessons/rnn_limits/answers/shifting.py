"""Teacher forcing: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.rnn_limits.probes import PROBES


def shift_oracle(targets: Tensor, bos: int) -> Tensor:
    """Pad on the left by one and on the right by minus one."""
    return F.pad(targets, (1, -1), value=bos)


@by_choices
def _shifted(
    order: Callable[[Tensor, Tensor], list[Tensor]] = lambda ids, gap: [gap, ids[:, :-1]],
    *,
    axis: int = 1,
    gap: Callable[[Tensor, int], Tensor] = torch.full_like,
    flat: bool = False,
    gives: Callable[[Tensor], Any] = lambda inputs: inputs,
) -> Callable[[Tensor, int], Any]:
    """Build a shift_right with some things done differently.

    Args:
        order: (ids, what fills the gap) -> the parts of the result, in order.
        axis: the axis along which ids move.
        gap: (the last ids, bos) -> what fills the gap.
        flat: whether the batch is taken for one long sequence.
        gives: what is made of the result at the end.

    """

    def shift(targets: Tensor, bos: int) -> Any:
        ids = targets.reshape(1, -1) if flat else targets.transpose(1, axis)
        moved = torch.cat(order(ids, gap(ids[:, -1:], bos)), 1)
        return gives(moved.reshape(targets.shape) if flat else moved.transpose(1, axis))

    return shift


def _zeros(ids: Tensor, _bos: int) -> Tensor:
    return torch.zeros_like(ids)


def _rolled(ids: Tensor, _bos: int) -> Tensor:
    return ids


def _last_token_as_bos(targets: Tensor, bos: int) -> Tensor:
    shifted = shift_oracle(targets, bos)
    return shifted.masked_fill(shifted == targets[:, -1:], bos)


def _counted_up(targets: Tensor, bos: int) -> Tensor:
    return torch.cat([torch.full_like(targets[:, :1], bos), targets[:, 1:] + 1], 1)


def _first_row(columns: Callable[[Tensor], Tensor]) -> Callable[[Tensor, int], Tensor]:
    """Build a shift that writes bos into the first row of what `columns` makes of the targets."""

    def shift(targets: Tensor, bos: int) -> Tensor:
        moved = columns(targets).clone()
        moved[0] = bos
        return moved

    return shift


def _overwritten(targets: Tensor, bos: int) -> Tensor:
    inputs = targets[:, :1].expand_as(targets).clone()
    inputs[:, 0] = bos
    return inputs


EXERCISES = by_id(
    Exercise(
        PROBES["shift_right"],
        shift_oracle,
        (
            Mistake(
                "not_shifted",
                "The decoder would be shown the very token that it has to predict.",
                "Entry t of the result is the target at t - 1.",
                lambda targets, bos: targets,
            ),
            Mistake(
                "rolled",
                "The last token wraps around to the front.",
                "The last target is never an input; the front belongs to the begin token.",
                _shifted(gap=_rolled),
            ),
            Mistake(
                "one_too_long",
                "The begin token is put in front, but the last token is still there.",
                "The result is as long as the targets: the last target is never an input.",
                _shifted(lambda ids, gap: [gap, ids]),
            ),
            Mistake(
                "first_token_lost",
                "The begin token stands in place of the first target, and nothing has moved.",
                "Entry 1 of the result is the first target.",
                _shifted(lambda ids, gap: [gap, ids[:, 1:]]),
            ),
            Mistake(
                "shifted_left",
                "Everything moved to the left: the decoder would see the future.",
                "Entry t of the result is the target at t - 1.",
                _shifted(lambda ids, gap: [ids[:, 1:], gap]),
            ),
            Mistake(
                "shifted_along_the_batch",
                "Whole sequences moved to other places in the batch.",
                "The time axis is axis 1.",
                _shifted(axis=0),
            ),
            Mistake(
                "no_begin_token",
                "bos is not used: the gap is filled with zeros, which stand for padding.",
                "The front belongs to bos.",
                _shifted(gap=_zeros),
            ),
            Mistake(
                "rolled_along_the_batch",
                "Whole sequences moved to other places in the batch, the last one to the front.",
                "The time axis is axis 1; the front belongs to the begin token.",
                _shifted(axis=0, gap=_rolled),
            ),
            Mistake(
                "last_token_replaced",
                "The begin token stands at the end, in place of the last target, and nothing has "
                "moved.",
                "The begin token comes first, and each target moves one place on.",
                _shifted(lambda ids, gap: [ids[:, :-1], gap]),
            ),
            Mistake(
                "shifted_through_the_flat_batch",
                "The batch is shifted as one long sequence: the last target of one sentence comes "
                "first in the next.",
                "Every sequence begins with bos: keep the two axes.",
                _shifted(flat=True),
            ),
            Mistake(
                "overwritten_before_it_is_read",
                "Each entry is copied from the one before it, which has been overwritten already: "
                "the first target runs through the whole sequence.",
                "Read from the targets and write into another tensor.",
                _overwritten,
            ),
            Mistake(
                "begin_token_everywhere",
                "Every entry is the begin token. This happens where each entry is copied from the "
                "one before it, which was just overwritten.",
                "Only the first entry is bos. Read from the targets and write into another tensor.",
                torch.full_like,
            ),
            *(
                Mistake(
                    f"begin_token_in_the_first_row{name}",
                    "The begin token fills the first sequence of the batch; it belongs at the "
                    "front of each.",
                    "Targets are (B, T), and a single index picks along B.",
                    _first_row(columns),
                )
                for name, columns in (
                    ("", lambda targets: targets.roll(1, 1)),
                    ("_nothing_moved", lambda targets: targets),
                )
            ),
            Mistake(
                "counted_up",
                "The ids themselves are raised by one; it is their places that move.",
                "Entry t of the result is the target at t - 1.",
                _counted_up,
            ),
            Mistake(
                "last_token_found_by_value",
                "Wherever the last target's id occurs earlier too, it is replaced by bos.",
                "Leave out the last target by its place, not by its value: an id may occur twice.",
                _last_token_as_bos,
            ),
            Mistake(
                "begin_token_without_a_batch",
                "The begin token has no batch axis, so it cannot be joined to (B, T - 1) along "
                "axis 1.",
                "One begin token for each sequence: (B, 1).",
                lambda targets, bos: torch.cat([torch.tensor([bos]), targets[:, :-1]], 1),
            ),
            Mistake(
                "one_begin_token_for_the_batch",
                "There is one begin token, (1, 1), for all sequences.",
                "One begin token for each sequence: (B, 1).",
                lambda targets, bos: torch.cat([torch.tensor([[bos]]), targets[:, :-1]], 1),
            ),
            Mistake(
                "list_returned",
                "The result is a list, not a tensor.",
                "torch.cat joins tensors and gives one.",
                _shifted(gives=lambda inputs: inputs.tolist()),
            ),
            Mistake(
                "floats",
                "The ids are floating-point numbers, which an embedding does not accept.",
                "torch.ones, zeros and full give float32 unless you say dtype=.",
                _shifted(gives=lambda inputs: inputs.float()),
            ),
            Mistake(
                "begin_token_missing",
                "The last token is cut off, but nothing was put in front.",
                "The result is as long as the targets.",
                _shifted(lambda ids, gap: [ids[:, :-1]]),
            ),
        ),
    ),
)
