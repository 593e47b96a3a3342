"""Speed of training: `python -m bench.train_speed`, or with some of: padding cpu gpu_training ...

The solution's encoder plain, with fused attention, compiled, in float32 and bf16, against
`nn.TransformerEncoder`: in one run, side by side, in turns; medians. And what padding costs.

FLOPs are counted as 6 N + 12 L T D for each position (see `speed_timing.training_flops`), and the
share of the peak is of what the maker states for dense bf16. On a machine without a GPU, what was
measured before on one stays, with its date.
"""

import json
import math
import os
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from bench.__main__ import RESULTS, about, keep
from bench.lesson_code import solution
from bench.speed_models import (
    COMPILED,
    FUSED,
    SOLUTION,
    TORCH,
    TUNED,
    Size,
    batch_of,
    build,
)
from bench.speed_timing import (
    Run,
    clear,
    in_turns,
    matmul_peak,
    ratio,
    stated_peak,
    training_flops,
)
from utils.conllu import Sentence
from utils.made_up import made_up_sentences

NAME = "train_speed"
LESSON = Size(128, 4, 3, 256, batch=32, length=32)
BASE = Size(512, 8, 6, 2048, batch=4, length=64)  # the paper's, and the exercise's defaults
CPU_SIZES = (LESSON, Size(256, 8, 4, 1024, batch=8, length=128), BASE)
LARGE = Size(1024, 16, 12, 4096, batch=64, length=512)
PER_SENTENCE = 2.2e9  # bytes of the GPU, for all models and the plain attention at the large size
NOT_YET = "not yet measured: no machine with a GPU has run this"

Table = dict[str, dict[str, float]]


def measure(parts: Sequence[str] = ()) -> dict[str, Any]:
    """Measure all parts, or those named; others stay as they were measured before."""
    path = RESULTS / f"{NAME}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}
    found = {part: before.get(part, NOT_YET) for part in PARTS}
    if unknown := set(parts) - set(PARTS):
        sys.exit(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
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
    """In float32, without and with padding: the solution against torch."""
    tasks = {"forward and backward": forward_backward, "forward": forward, "inference": inference}
    found: dict[str, Any] = {}
    for size in CPU_SIZES:
        rows: dict[str, Any] = {"size": asdict(size)}
        for title, task in tasks.items():
            make = partial(table, (SOLUTION, FUSED, TORCH), size, torch.device("cpu"), task)
            rows |= {title: make(), f"{title}, with padding": make(padded=True)}
        found[f"D = {size.d_model}"] = rows
    return found


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
    name, sentences = treebank()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    lengths = [len(sentence) for sentence in sentences]
    draw = torch.Generator().manual_seed(0)
    order = torch.randperm(len(lengths), generator=draw).tolist()
    ways = {
        "random, 32 sentences": cut(order, 32),
        "sorted by length, 32 sentences": cut(sorted(order, key=lambda i: lengths[i]), 32),
        "bucket_batches, 1024 tokens": solution()["bucket_batches"](lengths, 1024, draw),
    }
    runs = {way: lesson_epoch(sentences, groups, device) for way, groups in ways.items()}
    seconds = {way: statistics.median(s) for way, s in in_turns(runs, device, rounds=3).items()}
    rows = {
        way: {
            "waste": round(waste(lengths, groups), 3),
            "batches": len(groups),
            "words per second": round(sum(lengths) / seconds[way]),
        }
        for way, groups in ways.items()
    }
    return {"treebank": name, "device": device.type} | rows


def treebank() -> tuple[str, list[Sentence]]:
    """The one that COURSE_DATA names; else made-up sentences, which need no network."""
    if not os.environ.get("COURSE_DATA"):
        return "made-up language", made_up_sentences(1500, 0)
    from utils.data import load_treebank  # noqa: PLC0415 (shows progress bars; not everywhere)

    found = load_treebank()
    return found.name, found.train


def cut(order: list[int], count: int) -> list[list[int]]:
    """Batches of so many sentences."""
    return [order[start : start + count] for start in range(0, len(order), count)]


def waste(lengths: Sequence[int], groups: Sequence[Sequence[int]]) -> float:
    """Share of all positions that are padding."""
    positions = sum(max(lengths[i] for i in group) * len(group) for group in groups)
    return 1 - sum(lengths) / positions


def lesson_epoch(
    sentences: Sequence[Sentence], groups: Sequence[Sequence[int]], device: torch.device
) -> Run:
    """Train the solution's tagger once on all batches, with the solution's own step."""
    names = solution()
    words = numbered(word for sentence in sentences for word, _ in sentence)
    tags = numbered(tag for sentence in sentences for _, tag in sentence)
    pairs = [([2 + words[w] for w, _ in s], [tags[t] for _, t in s]) for s in sentences]
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


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Number them from 0."""
    return {name: number for number, name in enumerate(sorted(set(names)))}


def forward(model: nn.Module, batch: Sequence[Tensor]) -> Run:
    """Logits in train mode, with all that backward would need."""
    model.train()
    ids, _, *masks = batch
    return lambda: model(ids, masks[0] if masks else None)


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
    clear(device)
    batch = batch_of(size, device, padded=padded)
    words = int((batch[1] != -100).sum())
    seconds = in_turns({n: task(build(n, size, device), batch) for n in names}, device)
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


def shares(size: Size, seconds: float, peak: float) -> dict[str, float]:
    """FLOPs per second of training, in TFLOP/s and as share of both peaks."""
    rate = training_flops(size) * size.words / seconds / 1e12
    stated = stated_peak()
    found = {"TFLOP/s": round(rate, 1), "share of measured peak": round(rate / peak, 3)}
    return found | ({"share of stated peak": round(rate / stated, 3)} if stated else {})


def large() -> Size:
    """The large size, with fewer sentences, a power of two, where memory is short."""
    fit = torch.cuda.get_device_properties(0).total_memory / PER_SENTENCE
    return replace(LARGE, batch=min(LARGE.batch, 2 ** int(math.log2(fit))))


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "padding": padding,
    "cpu": cpu,
    "gpu_training": gpu_training,
    "gpu_padded": gpu_padded,
    "gpu_inference": gpu_inference,
}


if __name__ == "__main__":
    keep(NAME, measure(sys.argv[1:]))
