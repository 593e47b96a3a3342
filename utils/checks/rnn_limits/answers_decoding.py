"""Teacher forcing and greedy decoding: what is right and commonly wrong."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.exercise import Exercise, Mistake
from utils.checks.rnn_limits.probes import PROBES

_PROBES = {probe.exercise: probe for probe in PROBES}
Step = Callable[[int, Any], tuple[Tensor, Any]]


def shift_oracle(targets: Tensor, bos: int) -> Tensor:
    """Pad on the left by one and on the right by minus one."""
    return F.pad(targets, (1, -1), value=bos)


def _first_replaced(targets: Tensor, bos: int) -> Tensor:
    return torch.cat([torch.full_like(targets[:, :1], bos), targets[:, 1:]], 1)


def _shifted_left(targets: Tensor, bos: int) -> Tensor:
    return F.pad(targets, (-1, 1), value=bos)


def _along_batch(targets: Tensor, bos: int) -> Tensor:
    return F.pad(targets, (0, 0, 1, -1), value=bos)


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


def _decode(
    *,
    carried: bool = True,
    fed_back: bool = True,
    stops: bool = True,
    choose: Callable[[Tensor], Tensor] = torch.argmax,
    room: int = 0,
) -> Callable[..., list[int]]:
    """A decoder with one thing left out or chosen, or with more or less room than max_len."""

    def decode(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
        token, now, written = bos, state, []
        for _ in range(max_len + room):
            logits, after = step(token, now)
            now = after if carried else now
            best = int(choose(logits))
            if stops and best == eos:
                break
            written.append(best)
            token = best if fed_back else token
        return written

    return decode


def _until_the_end(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written = _decode(room=10**6)(step, state, bos, eos, max_len)
    return written[:max_len]


def _with_end(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written = decode_oracle(step, state, bos, eos, max_len)
    return written if len(written) == max_len else [*written, eos]


DECODING = (
    Exercise(
        _PROBES["shift_right"],
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
                lambda targets, bos: targets.roll(1, 1),
            ),
            Mistake(
                "one_too_long",
                "The begin token is put in front, but the last token is still there.",
                "The result is as long as the targets: the last target is never an input.",
                lambda targets, bos: F.pad(targets, (1, 0), value=bos),
            ),
            Mistake(
                "first_token_lost",
                "The begin token stands in place of the first target, and nothing has moved.",
                "Entry 1 of the result is the first target.",
                _first_replaced,
            ),
            Mistake(
                "shifted_left",
                "Everything moved to the left: the decoder would see the future.",
                "Entry t of the result is the target at t - 1.",
                _shifted_left,
            ),
            Mistake(
                "shifted_along_the_batch",
                "Sequences moved to other places of the batch.",
                "The time axis is axis 1.",
                _along_batch,
            ),
            Mistake(
                "no_begin_token",
                "The front is filled with zeros, which stand for padding.",
                "The front belongs to bos.",
                lambda targets, bos: F.pad(targets, (1, -1)),
            ),
            Mistake(
                "begin_token_missing",
                "The last token is cut off, but nothing was put in front.",
                "The result is as long as the targets.",
                lambda targets, bos: targets[:, :-1],
            ),
        ),
    ),
    Exercise(
        _PROBES["greedy_decode"],
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
                _with_end,
            ),
            Mistake(
                "does_not_stop",
                "Decoding goes on after the end token.",
                "Compare each new token with eos, and leave the loop.",
                _decode(stops=False),
            ),
            Mistake(
                "begin_token_included",
                "The begin token is part of the answer.",
                "bos is read by the first step and written by none.",
                lambda step, state, bos, *rest: [bos, *decode_oracle(step, state, bos, *rest)],
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
                lambda *args: [torch.tensor(token) for token in decode_oracle(*args)],
            ),
            Mistake(
                "tensor_returned",
                "The answer is one tensor, not a list of numbers.",
                "A tensor's tolist() gives a list of numbers.",
                lambda *args: torch.tensor(decode_oracle(*args)),
            ),
        ),
    ),
)
