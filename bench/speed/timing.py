"""Time runs in turns, and compare them with the most that a device can do."""

import gc
import re
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from bench.speed.models import Size, parameters

# Dense bf16 TFLOP/s as the makers state them; the first name found in the device's name counts.
PEAKS = {
    "H200 NVL": 835.5,
    "H100 NVL": 835.5,
    "H100 PCIe": 756.0,
    "B200": 2250.0,
    "GH200": 989.4,
    "H200": 989.4,
    "H100": 989.4,
    "A100": 311.9,
    "A30": 165.0,
    "A40": 149.7,
    "L40S": 362.0,
    "L40": 181.0,
    "L4": 121.0,
    "RTX 4090": 165.2,
    "RTX 3090": 71.0,
}

Run = Callable[[], object]


@dataclass(frozen=True)
class Care:
    """How carefully to time.

    Attributes:
        rounds: number of times that each run has its turn.
        warm_ups: number of calls before that do not count.
        least_seconds: least duration of a turn; short runs are repeated.

    """

    rounds: int = 15
    warm_ups: int = 3
    least_seconds: float = 0.2


USUAL = Care()


def in_turns(
    runs: dict[str, Run], device: torch.device, care: Care = USUAL
) -> dict[str, list[float]]:
    """Return the seconds of one call of each run, in each round; each is warmed up before."""
    repeats = {}
    for name, run in runs.items():
        timed(run, care.warm_ups, device)  # compiles, if there is something to compile
        repeats[name] = 1 + int(care.least_seconds / timed(run, 1, device))
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(care.rounds):
        for name, run in runs.items():
            seconds[name].append(timed(run, repeats[name], device))
    return seconds


def timed(run: Run, repeats: int, device: torch.device) -> float:
    """Return the mean seconds of a call, including a GPU's work."""
    _wait_for(device)
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    _wait_for(device)
    return (time.perf_counter() - start) / repeats


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def clear(device: torch.device) -> None:
    """Empty all caches, so that each table compiles only for its own shapes."""
    gc.collect()
    torch.compiler.reset()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def ratio(times: Sequence[float], others: Sequence[float]) -> float:
    """Return the median of all rounds' ratios: what slows down a whole round cancels out."""
    return round(statistics.median(a / b for a, b in zip(times, others, strict=True)), 3)


def training_flops(size: Size, lengths: Sequence[int]) -> int:
    """Return the FLOPs of training on sentences of these lengths: 6 N + 12 L T D for each word.

    N parameters take part in multiplications: those of the layers and the output, not of the word
    table. Each multiplies once and adds once: 2 N. In each of L layers, q k^T takes 2 T D, and
    weights times v as much: 2 N + 4 L T D for forward. Backward takes twice that. Padding does not
    count, nor does anything else that an encoder computes needlessly.
    """
    squares = sum(length**2 for length in lengths)
    return 6 * parameters(size) * sum(lengths) + 12 * size.n_layers * size.d_model * squares


def stated_peak() -> float | None:
    """Return the dense bf16 TFLOP/s of this machine's GPU, or None if unknown or without one."""
    if not torch.cuda.is_available():
        return None
    name = torch.cuda.get_device_name()
    return next((peak for part, peak in PEAKS.items() if re.search(rf"\b{part}\b", name)), None)


def matmul_peak(device: torch.device, width: int = 8192, care: Care = USUAL) -> float:
    """Measure the TFLOP/s of a large matrix product in bf16: the most that can be reached here."""
    a, b = (torch.randn(width, width, device=device, dtype=torch.bfloat16) for _ in range(2))
    seconds = in_turns({"product": lambda: a @ b}, device, care)["product"]
    return float(2 * width**3 / statistics.median(seconds) / 1e12)
