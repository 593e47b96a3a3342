"""Speed of training: `python -m bench.train_speed`, or with some of: padding cpu gpu_training ...

The solution's encoder plain, with fused attention, compiled, in float32 and bf16, against
`nn.TransformerEncoder`: in one run, side by side, in turns; medians. And what padding costs.

FLOPs of one word (a position, padding included), with N parameters that take part in
multiplications (of layers and output, not the table of words), L layers and T positions:

    forward:  2 N + 4 L T D      a parameter multiplies and adds; q k^T and weights v, 2 T D each
    training: 3 times that       backward takes twice the forward: 6 N + 12 L T D

Share of peak = FLOPs per second / what the maker states for dense bf16. Where a result holds for
one kind of device and this machine has none, what was measured before stays, with its date.
"""

import gc
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from bench.__main__ import RESULTS, about, keep
from bench.speed_models import (
    COMPILED,
    FUSED,
    SOLUTION,
    TORCH,
    TUNED,
    Size,
    batch_of,
    build,
    parameters,
    solution,
)
from utils.data import load_treebank, made_up_treebank, tags_of, words_of

NAME = "train_speed"
LESSON = Size(128, 4, 3, 256, batch=32, length=32)
CPU_SIZES = (LESSON, Size(256, 8, 4, 1024, batch=8, length=128))
LARGE = Size(1024, 16, 12, 4096, batch=64, length=512)
PER_SENTENCE = 2.2e9  # bytes of the GPU, for all models and the plain attention at the large size
ROUNDS, WARM_UPS, LEAST_SECONDS = 9, 3, 0.3
# Dense bf16 TFLOP/s as the makers state them; the first name that the device's contains counts.
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
    "L4": 121.0,
    "RTX 4090": 165.2,
    "RTX 3090": 71.0,
}
NOT_YET = "not yet measured: no machine with a GPU has run this"

Table = dict[str, dict[str, float]]
Run = Callable[[], object]


def measure(parts: Sequence[str] = ()) -> dict[str, Any]:
    """Measure all parts, or those named; others stay as they were measured before."""
    path = RESULTS / f"{NAME}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}
    found = {part: before.get(part, NOT_YET) for part in PARTS}
    for part in parts or PARTS:
        if torch.cuda.is_available() or not part.startswith("gpu"):
            print(part, flush=True)
            found[part] = machine() | PARTS[part]()
    return found


def machine() -> dict[str, Any]:
    """Where a part is measured."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    found = {"GPU": gpu, "CUDA": torch.version.cuda, "threads": torch.get_num_threads()}
    return about() | found | {"load before": round(os.getloadavg()[0], 2)}


def cpu() -> dict[str, Any]:
    """In float32: inference, and forward and backward; solution against torch."""
    device, names = torch.device("cpu"), (SOLUTION, FUSED, TORCH)
    return {
        str(asdict(size)): {
            "forward and backward": table(names, size, device, forward_backward),
            "forward and backward, with padding": table(
                names, size, device, forward_backward, padded=True
            ),
            "inference": table(names, size, device, inference),
            "inference, with padding": table(names, size, device, inference, padded=True),
        }
        for size in CPU_SIZES
    }


def gpu_training() -> dict[str, Any]:
    """Steps of training at the large size, and what each change buys there."""
    device, size, peak = torch.device("cuda"), large(), matmul_peak(torch.device("cuda"))
    everything = (SOLUTION, FUSED, SOLUTION + COMPILED, TUNED, TORCH, TORCH + COMPILED)
    bf16 = table(everything, size, device, partial(training, bf16=True), peak=peak)
    full = table((SOLUTION, TUNED, TORCH), size, device, training)
    speed = {name: row["words per second"] for name, row in bf16.items()}
    return {
        "stated peak, bf16 TFLOP/s": stated_peak(),
        "measured peak of a matrix product, bf16 TFLOP/s": round(peak, 1),
        "size": asdict(size),
        "tuned over nn.TransformerEncoder, bf16": round(speed[TUNED] / speed[TORCH], 2),
        "tuned over solution, bf16": round(speed[TUNED] / speed[SOLUTION], 2),
        "bf16 over float32, solution": round(
            speed[SOLUTION] / full[SOLUTION]["words per second"], 2
        ),
        "training, bf16": bf16,
        "training, float32": full,
    }


def gpu_padded() -> dict[str, Any]:
    """Steps of training at the large size with padding, and at the lesson's size without."""
    device, bf16 = torch.device("cuda"), partial(training, bf16=True)
    return {
        "size": asdict(large()),
        "training, bf16, with padding": table(
            (SOLUTION, TUNED, TORCH, TORCH + COMPILED), large(), device, bf16, padded=True
        ),
        "training at the lesson's size, bf16": table(
            (SOLUTION, FUSED, TUNED, TORCH, TORCH + COMPILED), LESSON, device, bf16
        ),
    }


def gpu_inference() -> dict[str, Any]:
    """Weights in bf16 themselves: torch's fast path is not taken under autocast."""
    device, run = torch.device("cuda"), partial(inference, bf16=True)
    names = (SOLUTION, FUSED, TUNED, TORCH)
    return {
        "size": asdict(large()),
        "inference, bf16": table(names, large(), device, run),
        "inference, bf16, with padding": table(names, large(), device, run, padded=True),
    }


def padding() -> dict[str, Any]:
    """What three ways of making batches waste, and words per second with each (one epoch)."""
    asked = os.environ.get("COURSE_DATA")
    bank = load_treebank() if asked else made_up_treebank("the benchmark needs no network")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    lengths = [len(sentence) for sentence in bank.train]
    draw = torch.Generator().manual_seed(0)
    order = torch.randperm(len(lengths), generator=draw).tolist()
    ways = {
        "random, 32 sentences": cut(order, 32),
        "sorted by length, 32 sentences": cut(sorted(order, key=lambda i: lengths[i]), 32),
        "bucket_batches, 1024 tokens": solution()["bucket_batches"](lengths, 1024, draw),
    }
    runs = {way: lesson_epoch(bank, groups, device) for way, groups in ways.items()}
    seconds = {way: statistics.median(s) for way, s in in_turns(runs, device, rounds=3).items()}
    return {
        "treebank": bank.name,
        "device": device.type,
        "ways": {
            way: {
                "waste": round(waste(lengths, groups), 3),
                "batches": len(groups),
                "words per second": round(sum(lengths) / seconds[way]),
            }
            for way, groups in ways.items()
        },
    }


def cut(order: list[int], count: int) -> list[list[int]]:
    """Batches of so many sentences."""
    return [order[start : start + count] for start in range(0, len(order), count)]


def waste(lengths: Sequence[int], groups: Sequence[Sequence[int]]) -> float:
    """Share of all positions that are padding."""
    positions = sum(max(lengths[i] for i in group) * len(group) for group in groups)
    return 1 - sum(lengths) / positions


def lesson_epoch(bank: Any, groups: Sequence[Sequence[int]], device: torch.device) -> Run:
    """Train the solution's tagger once on all batches, with the solution's own step."""
    names = solution()
    words = {w: i for i, w in enumerate(sorted({w for s in words_of(bank.train) for w in s}), 2)}
    tags = {t: i for i, t in enumerate(sorted({t for s in tags_of(bank.train) for t in s}))}
    pairs = [([words[w] for w, _ in s], [tags[t] for _, t in s]) for s in bank.train]
    batches = [names["collate"]([pairs[i] for i in group]) for group in groups]
    s = LESSON
    torch.manual_seed(0)
    encoder = names["TransformerEncoder"](2 + len(words), s.d_model, s.n_heads, s.n_layers, s.d_ff)
    model = names["Tagger"](encoder, len(tags)).to(device)
    optimizer = AdamW(model.parameters(), 1e-3, fused=True)
    scheduler = LambdaLR(optimizer, lambda _: 1.0)

    def epoch() -> None:
        for batch in batches:
            names["train_step"](model, batch, optimizer, scheduler, device, 1.0)

    return epoch


def forward_backward(model: nn.Module, batch: Sequence[Tensor], *, bf16: bool = False) -> Run:
    """Loss and gradients, with dropout."""
    model.train()
    ids, tags, *masks = batch

    def run() -> None:
        model.zero_grad()
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=bf16):
            logits = model(ids, masks[0] if masks else None)
            loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten())
        torch.autograd.backward(loss)

    return run


def training(model: nn.Module, batch: Sequence[Tensor], *, bf16: bool = False) -> Run:
    """A whole step: loss, gradients, AdamW."""
    gradients = forward_backward(model, batch, bf16=bf16)
    optimizer = AdamW(model.parameters(), 1e-4, fused=True)

    def run() -> None:
        gradients()
        optimizer.step()

    return run


def inference(model: nn.Module, batch: Sequence[Tensor], *, bf16: bool = False) -> Run:
    """Logits alone, without dropout and gradients."""
    model.eval()
    ids, _, *masks = batch
    if bf16:
        model.bfloat16()

    def run() -> None:
        with torch.no_grad():
            model(ids, masks[0] if masks else None)

    return run


def table(
    names: Sequence[str],
    size: Size,
    device: torch.device,
    task: Callable[..., Run],
    *,
    padded: bool = False,
    peak: float | None = None,
) -> Table:
    """Measure each by turns: words (real ones) per second, and time over torch's encoder."""
    with cleared(device):
        batch = batch_of(size, device, padded=padded)
        runs = {name: task(build(name, size, device), batch) for name in names}
        seconds = in_turns(runs, device)
        words = int((batch[1] != -100).sum())
    times = {name: statistics.median(each) for name, each in seconds.items()}
    return {
        name: {
            "milliseconds": round(1e3 * times[name], 2),
            "words per second": round(words / times[name]),
            "time over nn.TransformerEncoder": ratio(seconds[name], seconds[TORCH]),
        }
        | (shares(size, times[name], peak) if peak else {})
        for name in names
    }


def ratio(times: Sequence[float], others: Sequence[float]) -> float:
    """The middle of the ratios of all rounds: what slows a whole round down falls out."""
    return round(statistics.median(a / b for a, b in zip(times, others, strict=True)), 3)


def shares(size: Size, seconds: float, peak: float) -> dict[str, float]:
    """FLOPs per second of training, in TFLOP/s and as share of both peaks."""
    rate = training_flops(size) * size.words / seconds / 1e12
    stated = stated_peak()
    found = {"TFLOP/s": round(rate, 1), "share of measured peak": round(rate / peak, 3)}
    return found | ({"share of stated peak": round(rate / stated, 3)} if stated else {})


def training_flops(size: Size) -> int:
    """Of one word: the formula at the top of this file."""
    return 6 * parameters(size) + 12 * size.n_layers * size.length * size.d_model


def stated_peak() -> float | None:
    """Dense bf16 TFLOP/s of this machine's GPU, where it is known."""
    name = torch.cuda.get_device_name()
    return next((peak for part, peak in PEAKS.items() if part in name), None)


def matmul_peak(device: torch.device, width: int = 8192) -> float:
    """TFLOP/s of a large matrix product in bf16: what can be had here at most."""
    a, b = (torch.randn(width, width, device=device, dtype=torch.bfloat16) for _ in range(2))
    seconds = in_turns({"product": lambda: a @ b}, device)["product"]
    return float(2 * width**3 / statistics.median(seconds) / 1e12)


def large() -> Size:
    """The large size, with fewer sentences, a power of two, where memory is short."""
    fit = torch.cuda.get_device_properties(0).total_memory / PER_SENTENCE
    return replace(LARGE, batch=min(LARGE.batch, 2 ** int(math.log2(fit))))


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


@contextmanager
def cleared(device: torch.device) -> Iterator[None]:
    """Start with empty caches, so that each table compiles for its own shapes alone."""
    gc.collect()
    torch.compiler.reset()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    yield


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "padding": padding,
    "cpu": cpu,
    "gpu_training": gpu_training,
    "gpu_padded": gpu_padded,
    "gpu_inference": gpu_inference,
}


if __name__ == "__main__":
    keep(NAME, measure(sys.argv[1:]))
