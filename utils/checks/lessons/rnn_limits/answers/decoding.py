"""Greedy decoding: an independent right answer."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from utils.checks.exercise import Exercise, by_id
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


EXERCISES = by_id(Exercise(PROBES["greedy_decode"], decode_oracle))
