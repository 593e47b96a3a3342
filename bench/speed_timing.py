"""Time runs by turns, and compare with what a device can do at most."""

import gc
import re
import statistics
import time
from collections.abc import Callable, Sequence

import torch

from bench.speed_models import Size, parameters

ROUNDS, WARM_UPS, LEAST_SECONDS = 15, 3, 0.2
# Dense bf16 TFLOP/s as the makers state them; the first that stands in the device's name counts.
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


def in_turns(
    runs: dict[str, Run], device: torch.device, rounds: int = ROUNDS
) -> dict[str, list[float]]:
    """Seconds of one call of each, in each round; every one is called before, to warm up."""
    repeats = {}
    for name, run in runs.items():
        timed(run, WARM_UPS, device)  # compiles, where there is something to compile
        repeats[name] = 1 + int(LEAST_SECONDS / timed(run, 1, device))
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            seconds[name].append(timed(run, repeats[name], device))
    return seconds


def timed(run: Run, repeats: int, device: torch.device) -> float:
    """Mean seconds of a call; a GPU's work is waited for."""
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
    """Empty all caches, so that each table compiles for its own shapes alone."""
    gc.collect()
    torch.compiler.reset()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def ratio(times: Sequence[float], others: Sequence[float]) -> float:
    """The middle of the ratios of all rounds: what slows a whole round down falls out."""
    return round(statistics.median(a / b for a, b in zip(times, others, strict=True)), 3)


def training_flops(size: Size) -> int:
    """FLOPs that training takes for one position: 6 N + 12 L T D.

    N parameters take part in multiplications: those of layers and output, not the table of words.
    Each multiplies once and adds once: 2 N. In each of L layers q k^T takes 2 T D, and weights v as
    much: 2 N + 4 L T D forwards. Backward takes twice that. Padding counts as words do; what an
    encoder computes needlessly does not count.
    """
    return 6 * parameters(size) + 12 * size.n_layers * size.length * size.d_model


def stated_peak() -> float | None:
    """Dense bf16 TFLOP/s of this machine's GPU, where it is known."""
    name = torch.cuda.get_device_name()
    return next((peak for part, peak in PEAKS.items() if re.search(rf"\b{part}\b", name)), None)


def matmul_peak(device: torch.device, width: int = 8192) -> float:
    """TFLOP/s of a large matrix product in bf16: what can be had here at most."""
    a, b = (torch.randn(width, width, device=device, dtype=torch.bfloat16) for _ in range(2))
    seconds = in_turns({"product": lambda: a @ b}, device)["product"]
    return float(2 * width**3 / statistics.median(seconds) / 1e12)
