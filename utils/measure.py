"""Time and memory of a computation, for lessons that compare two ways to the same end."""

import time
from collections.abc import Callable

import torch
from torch import Tensor


def seconds(run: Callable[[], object], repeat: int = 3) -> float:
    """Shortest wall-clock time of several runs, after one run that warms up."""
    run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def bytes_kept(run: Callable[[], object]) -> int:
    """Bytes that autograd keeps for the backward pass; tensors that share memory count once."""
    kept: dict[int, Tensor] = {}  # the tensors themselves, so that no address is used again

    def note(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        run()
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
