"""Calls in which nothing is left to chance, for dropout leaves nothing or everything in place."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from utils.checks.calling import AnswerError


def settled(call: Callable[[], Any], dropout: float = 0.0) -> Any:
    """Call an answer that was given a dropout of 0 or 1; where it draws numbers, call it twice.

    Raises:
        AnswerError: the two results differ, so that something is dropped out at another rate.
    """
    before = torch.get_rng_state()
    result = call()
    if torch.equal(before, torch.get_rng_state()) or _alike(result, call()):
        return result
    message = f"With dropout={dropout:g} nothing is left to chance, and two calls differ."
    raise AnswerError("return", message)


def _alike(one: object, other: object) -> bool:
    pairs = zip(_tensors(one), _tensors(other), strict=True)
    return all(torch.allclose(a, b, equal_nan=True) for a, b in pairs)


def _tensors(result: object) -> Iterator[Tensor]:
    if isinstance(result, Tensor):
        yield result
    if isinstance(result, (tuple, list)):
        for part in result:
            yield from _tensors(part)
