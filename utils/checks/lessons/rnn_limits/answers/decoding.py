"""Teacher forcing and greedy decoding: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.framework.combining import by_choices
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.rnn_limits.probes import PROBES

Step = Callable[[int, Any], tuple[Tensor, Any]]


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


def _counted_up(targets: Tensor, bos: int) -> Tensor:
    return torch.cat([torch.full_like(targets[:, :1], bos), targets[:, 1:] + 1], 1)


def _overwritten(targets: Tensor, bos: int) -> Tensor:
    inputs = targets[:, :1].expand_as(targets).clone()
    inputs[:, 0] = bos
    return inputs


def decode_oracle(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    """Write max_len tokens by recursion, then cut at the first end token."""

    def write(token: int, now: Any, room: int) -> list[int]:
        if room == 0:
            return []
        logits, after = step(token, now)
        best = int(logits.topk(1).indices)
        return [best, *write(best, after, room - 1)]

    written = write(bos, state, max_len)
    return written[: written.index(eos)] if eos in written else written


End = Literal["eos", "bos", "never", "skipped", "repetition", "padding", "either"]


def _ends(eos: int, bos: int) -> dict[End, tuple[int, ...]]:
    also: dict[End, tuple[int, ...]] = {"padding": (eos, 0), "either": (eos, bos)}
    return also | {"eos": (eos,), "repetition": (eos,), "bos": (bos,)}


@by_choices
def _decode(
    *,
    carried: bool = True,
    fed_back: bool = True,
    end: End = "eos",
    choose: Callable[[Tensor], Tensor] = torch.argmax,
    room: int = 0,
    calls: int = 1,
    first: bool = False,
    last: bool = False,
    gives: Callable[[list[int]], Any] = lambda written: written,
) -> Callable[..., Any]:
    """Build a decoder with some things done differently.

    Args:
        carried: whether the new state is handed on.
        fed_back: whether the token written is read next; else bos is.
        end: what ends the answer; "skipped" leaves eos out and goes on, "repetition" ends it at a
            token written before too, "padding" at 0 too, "either" at bos too.
        choose: logits -> token.
        room: how many more tokens than max_len there is room for.
        calls: how often `step` is called for a token.
        first: whether bos is in the answer.
        last: whether eos is in the answer.
        gives: what is made of the answer.

    """

    def decode(step: Step, state: Any, bos: int, eos: int, max_len: int) -> Any:
        token, written = bos, [bos] if first else []
        for _ in range(max_len + room):
            for _ in range(calls):
                logits, after = step(token, state)
                state = after if carried else state
            best = int(choose(logits))
            stops = best in _ends(eos, bos).get(end, ())
            if stops or (end == "repetition" and best in written):
                written += [best] if last else []
                break
            written += [] if end == "skipped" and best == eos else [best]
            token = best if fed_back else token
        return gives(written)

    return decode


def _until_the_end(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = _decode(room=10**6)(step, state, bos, eos, max_len)
    return written[:max_len]


def _second_largest(logits: Tensor) -> Tensor:
    return logits.topk(2).indices[1]


_PAIR = (
    "`step` returns a pair, logits and state, and the pair itself is used as logits.",
    "logits, state = step(...) takes the two apart.",
)

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
                "The last token comes round to the front.",
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
                "Sequences moved to other places of the batch.",
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
                "Sequences moved to other places of the batch, the last one to the first.",
                "The time axis is axis 1; the front belongs to the begin token.",
                _shifted(axis=0, gap=_rolled),
            ),
            Mistake(
                "last_token_replaced",
                "The begin token stands at the end, in place of the last target, and nothing has "
                "moved.",
                "The begin token comes first, and each target one place later.",
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
                "counted_up",
                "The ids themselves are raised by one; it is their places that move.",
                "Entry t of the result is the target at t - 1.",
                _counted_up,
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
                "A list comes back, not a tensor.",
                "torch.cat joins tensors and gives one.",
                _shifted(gives=lambda inputs: inputs.tolist()),
            ),
            Mistake(
                "floats",
                "The ids are floating-point numbers, which no embedding takes.",
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
    Exercise(
        PROBES["greedy_decode"],
        decode_oracle,
        (
            Mistake(
                "state_not_carried",
                "Every step starts from the first state again.",
                "`step` returns a new state beside the logits: the next step needs it.",
                _decode(carried=False),
            ),
            Mistake(
                "token_not_fed_back",
                "Every step reads the begin token.",
                "What the decoder has just written is what it reads next.",
                _decode(fed_back=False),
            ),
            Mistake(
                "end_token_included",
                "The end token is part of the answer.",
                "Look whether the token is eos before you append it.",
                _decode(last=True),
            ),
            Mistake(
                "does_not_stop",
                "Decoding goes on after the end token.",
                "Compare each new token with eos, and leave the loop.",
                _decode(end="never"),
            ),
            Mistake(
                "end_token_skipped",
                "The end token is left out, but decoding goes on after it.",
                "At eos the answer is complete: leave the loop.",
                _decode(end="skipped"),
            ),
            Mistake(
                "stops_at_the_begin_token",
                "Decoding stops at bos, not at eos.",
                "Which of the two ends an answer?",
                _decode(end="bos"),
            ),
            *(
                Mistake(
                    f"stops_at_{name}_too",
                    f"{what} ends the answer too.",
                    "Only eos ends an answer: every other token is written.",
                    _decode(end=end),
                )
                for name, what, end in (
                    ("padding", "The token 0", "padding"),
                    ("the_begin_token", "The begin token", "either"),
                )
            ),
            Mistake(
                "stops_at_a_repetition",
                "A token that was written before ends the answer.",
                "An answer may hold a token twice; only eos ends it.",
                _decode(end="repetition"),
            ),
            Mistake(
                "two_steps_for_a_token",
                "`step` is called twice for each token, and the state goes on twice.",
                "One call gives both: the logits and the new state.",
                _decode(calls=2),
            ),
            Mistake(
                "pair_not_taken_apart",
                *_PAIR,
                lambda step, state, bos, *rest: [int(torch.argmax(step(bos, state)))],
            ),
            Mistake(
                "argmax_of_the_pair",
                *_PAIR,
                lambda step, state, bos, *rest: [int(step(bos, state).argmax())],
            ),
            Mistake(
                "second_largest_logit",
                "The second largest logit is chosen.",
                "Greedy means the largest logit.",
                _decode(choose=_second_largest),
            ),
            Mistake(
                "joined_to_a_text",
                "The tokens come as text, not as a list of numbers.",
                "Append each token to a list and return that.",
                _decode(gives=lambda written: " ".join(map(str, written))),
            ),
            Mistake(
                "begin_token_included",
                "The begin token is part of the answer.",
                "bos is read by the first step and written by none.",
                _decode(first=True),
            ),
            Mistake(
                "one_token_too_many",
                "There is room for max_len tokens, and more were written.",
                "Count what is in the list, not the begin token.",
                _decode(room=1),
            ),
            Mistake(
                "one_token_too_few",
                "There is room for one more token.",
                "max_len counts the tokens of the answer: neither bos nor eos is among them.",
                _decode(room=-1),
            ),
            Mistake(
                "lowest_logit",
                "The least likely token is chosen.",
                "Greedy means the largest logit.",
                _decode(choose=torch.argmin),
            ),
            Mistake(
                "value_for_index",
                "The largest logit itself is taken for a token.",
                "The token is the place at which the largest logit stands.",
                _decode(choose=torch.max),
            ),
            Mistake(
                "runs_until_the_end_token",
                "Decoding runs until the end token comes. Where none comes, it never stops.",
                "Let the loop itself count to max_len: cutting the list afterwards is too late.",
                _until_the_end,
            ),
            Mistake(
                "tensors_in_the_list",
                "The list holds tensors, not numbers.",
                "argmax gives a tensor; .item() or int() makes a number of it.",
                _decode(gives=lambda written: [torch.tensor(token) for token in written]),
            ),
            Mistake(
                "tensor_returned",
                "The answer is one tensor, not a list of numbers.",
                "A tensor's tolist() gives a list of numbers.",
                _decode(gives=torch.tensor),
            ),
        ),
    ),
)
