"""Greedy decoding: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.rnn_limits.probes import PROBES

Step = Callable[[int, Any], tuple[Tensor, Any]]


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


End = Literal["eos", "bos", "never", "skipped", "repetition", "padding", "either", "doubled"]


def _ends(eos: int, bos: int) -> dict[End, tuple[int, ...]]:
    also: dict[End, tuple[int, ...]] = {"padding": (eos, 0), "either": (eos, bos)}
    return also | {"eos": (eos,), "repetition": (eos,), "doubled": (eos,), "bos": (bos,)}


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
            token written before too, "doubled" at one written just before too, "padding" at 0 too,
            "either" at bos too.
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
            said = {"repetition": written, "doubled": written[-1:]}.get(end, [])
            if stops or best in said:
                written += [best] if last else []
                break
            written += [] if end == "skipped" and best == eos else [best]
            token = best if fed_back else token
        return gives(written)

    return decode


def _until_the_end(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = _decode(room=10**6)(step, state, bos, eos, max_len)
    return written[:max_len]


def _limit_seen_late(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = _decode()(step, state, bos, eos, max(max_len, 1))
    return written


def _cut_at_the_end_token(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = _decode(last=True)(step, state, bos, eos, max_len)
    return written[: written.index(eos)]


def _all_read_again(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = []
    while len(written) < max_len:
        for token in (bos, *written):
            logits, state = step(token, state)
        best = int(logits.argmax())
        if best == eos:
            break
        written.append(best)
    return written


def _carried_once(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    logits, after = step(bos, state)
    written: list[int] = []
    while len(written) < max_len and (best := int(logits.argmax())) != eos:
        written.append(best)
        logits, _ = step(best, after)
    return written


def _no_token_twice(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = []
    token = bos
    while len(written) < max_len:
        logits, state = step(token, state)
        used = torch.tensor(written, dtype=torch.long)
        token = int(logits.index_fill(0, used, -torch.inf).argmax())
        if token == eos:
            break
        written.append(token)
    return written


def _one_token(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = _decode()(step, state, bos, eos, max_len)
    return written[:1]


def _filled_up(step: Step, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = _decode()(step, state, bos, eos, max_len)
    return written + [eos] * (max_len - len(written))


def _pair_exchanged(step: Any, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    state, logits = step(bos, state)
    _, _ = step(int(logits.argmax()), state)
    return []


def _arguments_exchanged(step: Any, state: Any, bos: int, eos: int, max_len: int) -> list[int]:
    step(state, bos)
    return []


def _second_largest(logits: Tensor) -> Tensor:
    return logits.topk(2).indices[1]


_PAIR = (
    "`step` returns a pair, logits and state, and the pair itself is used as logits.",
    "Unpack what `step` returns into two names.",
)

EXERCISES = by_id(
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
                "state_carried_once",
                "Only the first step's new state is passed on: all later steps start from it.",
                "Every call of `step` returns a state, which the next call needs.",
                _carried_once,
            ),
            Mistake(
                "all_read_again",
                "At each step all tokens so far are read again, on top of a state that has read "
                "them already.",
                "The state holds what was read before. What has been written since?",
                _all_read_again,
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
                "Check whether the token is eos before you append it.",
                _decode(last=True),
            ),
            Mistake(
                "does_not_stop",
                "Decoding goes on after the end token.",
                "Compare each new token with eos, and stop there.",
                _decode(end="never"),
            ),
            Mistake(
                "end_token_skipped",
                "The end token is left out, but decoding goes on after it.",
                "At eos the answer is complete: stop there.",
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
                "stops_at_a_double",
                "A token that comes twice in a row ends the answer.",
                "An answer may hold a token twice; only eos ends it.",
                _decode(end="doubled"),
            ),
            Mistake(
                "largest_without_its_sign",
                "The token whose logit is farthest from zero is taken, on whichever side.",
                "The best token has the largest logit: a logit far below zero is a bad one.",
                _decode(choose=lambda logits: logits.abs().argmax()),
            ),
            Mistake(
                "two_steps_for_a_token",
                "`step` is called twice for each token, so the state advances twice.",
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
                "last_token_first",
                "The tokens are right, but in reverse order.",
                "The token that is written first comes first in the answer.",
                _decode(gives=lambda written: written[::-1]),
            ),
            Mistake(
                "no_token_twice",
                "A token that was written before is not chosen again.",
                "Greedy means the largest logit, whatever was written before.",
                _no_token_twice,
            ),
            Mistake(
                "begin_token_included",
                "The begin token is part of the answer.",
                "bos is read by the first step and written by none.",
                _decode(first=True),
            ),
            Mistake(
                "one_token_alone",
                "The answer ends after its first token.",
                "What ends it in the first step? A `return` that is indented too far does.",
                _one_token,
            ),
            Mistake(
                "filled_up_with_the_end_token",
                "The answer is padded with end tokens up to max_len.",
                "The end token is not part of the answer, and an answer may be shorter than "
                "max_len.",
                _filled_up,
            ),
            Mistake(
                "results_of_step_exchanged",
                "`step` gives the logits first and the new state second; here they are taken the "
                "other way round.",
                "Compare the order of the names on your line with the docstring.",
                _pair_exchanged,
            ),
            Mistake(
                "arguments_of_step_exchanged",
                "`step` takes the token first and the state second; here they are given the other "
                "way round.",
                "Compare your call with the docstring.",
                _arguments_exchanged,
            ),
            Mistake(
                "one_token_too_many",
                "There is room for max_len tokens, and more were written.",
                "Count what is in the list, not the begin token.",
                _decode(room=1),
            ),
            Mistake(
                "one_token_too_few",
                "Where no end token comes, the answer is one token short: there is room for "
                "max_len.",
                "max_len counts the tokens of the answer. Do you count bos among them, or cut off "
                "the last token as if it were eos?",
                _decode(room=-1),
            ),
            Mistake(
                "end_token_looked_for_in_vain",
                "The answer is cut at the end token, but an answer that ends at max_len has none.",
                "An answer can end in two ways: at the end token, or at max_len. Does your line "
                "work for both?",
                _cut_at_the_end_token,
            ),
            Mistake(
                "lowest_logit",
                "The least likely token is chosen.",
                "Greedy means the largest logit.",
                _decode(choose=torch.argmin),
            ),
            Mistake(
                "value_for_index",
                "The largest logit itself is used as the token.",
                "The token is the index of the largest logit, not its value.",
                _decode(choose=torch.max),
            ),
            Mistake(
                "runs_until_the_end_token",
                "Decoding runs until the end token comes. Where none comes, it never stops.",
                "Count the steps up to max_len: cutting the list afterwards is too late.",
                _until_the_end,
            ),
            Mistake(
                "limit_seen_after_a_token",
                "A token is written before the limit is looked at: with max_len = 0 there is one.",
                "Ask whether there is room before the step, as `for _ in range(max_len)` does.",
                _limit_seen_late,
            ),
            Mistake(
                "tensors_in_the_list",
                "The list holds tensors, not numbers.",
                "argmax gives a tensor; .item() or int() turns it into a number.",
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
