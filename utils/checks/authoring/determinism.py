"""Calls that leave nothing to chance, because dropout keeps either nothing or everything."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from utils.checks.observation import AnswerError, ProblemKind
from utils.checks.observe.torch_state import have_drawn, put_random_states, random_states

_KEPT = (
    "Two calls with the same input and the same random numbers should give the same result, but "
    "they differ."
)


def settled(
    call: Callable[[], Any],
    dropout: float | None = 0.0,
    again: int = 1,
    anew: Callable[[], Any] | None = None,
) -> Any:
    """Call an answer with a dropout of 0 or 1; if it draws random numbers, call it again.

    Args:
        call: the call.
        dropout: the rate that it was given; None if the exercise has no dropout.
        again: how often it is called again: few results may be alike by chance.
        anew: what is called then, where the call leaves traces that are looked at afterwards.

    Raises:
        AnswerError: two results differ: something drops out at another rate or, if they differ with
            the same random numbers too, is kept from one call to the next.

    """
    before = random_states()
    result = call()
    if not have_drawn(before):
        return result
    if all(_alike(result, (anew or call)()) for _ in range(again)):
        return result
    put_random_states(before)
    if not _alike(result, (anew or call)()):
        raise AnswerError(ProblemKind.KEPT, _KEPT)
    given = "" if dropout is None else f" and dropout={dropout:g}"
    message = f"Two calls with the same input{given} should give the same result, but they differ."
    raise AnswerError(ProblemKind.CHANCE, message)


def _alike(one: object, other: object) -> bool:
    if isinstance(one, list) and not any(True for _ in _tensors(one)):  # ids, or words
        return one == other
    pairs = zip(_tensors(one), _tensors(other), strict=True)
    return all(torch.allclose(a, b, equal_nan=True) for a, b in pairs)


def _tensors(result: object) -> Iterator[Tensor]:
    if isinstance(result, Tensor):
        yield result
    if isinstance(result, (tuple, list)):
        for part in result:
            yield from _tensors(part)
