"""Cases' inputs: made by the watcher, handed over when their exercise is observed.

What makes them draws masks and pads sentences, as exercises ask, so it is not left in the isolated
process; and nothing of an exercise's cases is there before its turn.
"""

import io
import json
import pickle
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from grader.workers.job_files import Cases
from utils.checks.framework.exercise import Case, Inputs
from utils.checks.registry import probes

Ask = Callable[[bytes], bytes]
TOGETHER: Final = 1 << 15  # bytes of inputs that are handed over at once: a pipe holds twice that


class Maker:
    """The watcher's side: hands over the inputs of each case once.

    Args:
        cases: exercise -> parameters of its cases.

    """

    def __init__(self, cases: Cases) -> None:
        self._left = {
            (exercise, number): params
            for exercise, found in cases.items()
            if not probes()[exercise].served
            for number, params in enumerate(found)
        }

    def reply(self, exercise: str, number: int) -> bytes:
        """Return the inputs of a case and of those after it; nothing if they are not there."""
        handed: list[bytes] = []
        while (params := self._left.get((exercise, number))) is not None:
            inputs = made(exercise, params)
            if handed and sum(map(len, handed)) + len(inputs) > TOGETHER:
                break
            handed.append(inputs)
            del self._left[exercise, number]
            number += 1
        return pickle.dumps(handed) if handed else b""


class Kept:
    """What was made, up to so many bytes: every submission of a lesson asks for the same.

    Args:
        most: bytes; a lesson's inputs take less than a mebibyte.

    """

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._made: dict[tuple[str, str], bytes] = {}

    def of(self, key: tuple[str, str], make: Callable[[], bytes]) -> bytes:
        """Return what was kept, or make it and keep it; nothing else is if it finds no room."""
        if key not in self._made:
            new = make()
            if self._bytes + len(new) > self._most:
                self._made.clear()
                self._bytes = 0
            self._made[key] = new
            self._bytes += len(new)
        return self._made[key]


_KEPT: Final = Kept(64 << 20)


def made(exercise: str, params: Mapping[str, Any]) -> bytes:
    """Return a case's inputs, packed, with whether it asks for results alone."""
    return _KEPT.of((exercise, repr(sorted(params.items()))), lambda: _made(exercise, params))


def _made(exercise: str, params: Mapping[str, Any]) -> bytes:
    probe = probes()[exercise]
    known = (case.results_only for case in probe.cases if dict(case.params) == params)
    return packed((next(known, False), probe.make(params)))


def asked_for(raw: bytes) -> tuple[str, int]:
    """Return whose inputs a request is for; it may say anything."""
    try:
        exercise, number = json.loads(raw)["inputs"]
        return str(exercise), int(number)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return "", -1


class Handed:
    """The isolated side: an exercise's inputs as they are handed over, a few cases at a time.

    Args:
        exercise: its id.
        ask: sends a request to the watcher and returns its reply.

    """

    def __init__(self, exercise: str, ask: Ask) -> None:
        self._exercise, self._ask = exercise, ask
        self._here: dict[int, bytes] = {}

    def case(self, number: int) -> tuple[Case, Inputs]:
        """Return a case's inputs, with a case that has nothing else.

        Raises:
            ValueError: they were handed over before.

        """
        if number not in self._here:
            reply = self._ask(json.dumps({"inputs": [self._exercise, number]}).encode())
            if not reply:
                raise ValueError("the inputs of this case were taken before it was observed")
            self._here |= enumerate(pickle.loads(reply), number)  # made where no student code runs
        results_only, inputs = pickle.loads(self._here.pop(number))
        return Case("", {}, results_only=results_only), inputs


def packed(value: object) -> bytes:
    """Write plain values and tensors."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=5)
    pickler.dispatch_table = {Tensor: _as_array}  # torch's own way is ten times slower
    pickler.dump(value)
    return file.getvalue()


def _as_array(tensor: Tensor) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    array = tensor.detach().numpy()
    if array.flags.c_contiguous:  # its bytes are read in half the time of an array
        return _as_tensor, (bytearray(array), tensor.requires_grad, array.dtype.str, array.shape)
    return _as_tensor, (array, tensor.requires_grad)


def _as_tensor(
    content: Any, requires_grad: bool, dtype: str | None = None, shape: tuple[int, ...] = ()
) -> Tensor:
    array = content if dtype is None else np.ndarray(shape, dtype, content)
    return torch.from_numpy(array).requires_grad_(requires_grad)
