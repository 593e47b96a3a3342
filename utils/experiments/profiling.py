"""Time and memory of a computation, for lessons that compare two ways to the same result."""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def seconds(
    run: Callable[..., object],
    *arguments: Any,
    repeat: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the shortest time of `run(*arguments)`, in seconds, after one warm-up run.

    The default clock is the one on the wall; `time.process_time` counts what this process used of
    all cores together, and nothing of other programs.
    """
    run(*arguments)
    times = []
    for _ in range(repeat):
        start = clock()
        run(*arguments)
        times.append(clock() - start)
    return min(times)


def bytes_kept(run: Callable[..., object], *arguments: Any) -> int:
    """Return the bytes that autograd keeps for the backward pass of `run(*arguments)`.

    Tensors that share memory count once; inputs and parameters that are needed again count too.
    """
    kept: dict[int, Tensor] = {}  # holds the tensors, so that no address is reused

    def note(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = run(*arguments)  # held, so that nothing is freed while we count
    del result
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
