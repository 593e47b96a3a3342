"""Words per second at a size that fills a GPU: three parts of `bench.gpu`.

Each figure measures one model and `nn.TransformerEncoder`, in turns, with the same batch and the
same precision. Only real words count. A packed model drops no attention weights, as `varlen_attn`
cannot; all else is the same work.
"""

import math
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import torch

from bench.gpu.padding import padding
from bench.gpu.record import Figures, Found, Place, Skipped, is_known
from bench.speed.attention import why_not_packed
from bench.speed.models import (
    BACKENDS,
    COMPILED,
    CUDNN,
    FLASH,
    FUSED,
    PACKED,
    SOLUTION,
    TORCH,
    TUNED,
    Size,
)
from bench.speed.tasks import Table, table
from bench.speed.tasks import inference as inference_task
from bench.speed.tasks import training as training_task
from bench.speed.timing import matmul_peak, stated_peak

LARGE = Size(1024, 16, 12, 4096, batch=64, length=512)
LESSON = Size(256, 8, 4, 1024, batch=128, length=32)  # lesson 06 on a GPU: 4,096 words
TOY = Size(32, 2, 2, 64, batch=2, length=16)
PER_SENTENCE = 2.2e9  # bytes of GPU memory with plain attention at the large size
BF16, FLOAT32, BEST = "bf16: ", "float32: ", "best of these, compiled"
MEASURED = "measured peak of a matrix product, TFLOP/s"


def training(place: Place, known: Found) -> Figures:
    """Measure training steps without padding, and what each change gains."""
    yield "size", lambda: asdict(size_of(place))
    yield "peak, bf16", partial(peak, place)
    run = partial(pair, place, partial(training_task, bf16=True), known=known)
    for name in (SOLUTION, *BACKENDS):
        yield BF16 + name, partial(run, name)
    for name in (SOLUTION, FUSED, TUNED, TORCH + COMPILED):
        title = f"the lesson's size, {BF16}{name}"
        yield title, partial(run, name, size=TOY if place.toy else LESSON)
    yield BF16 + BEST, lambda: run(best(known) + COMPILED)
    for name in (TORCH + COMPILED, SOLUTION + COMPILED):
        yield BF16 + name, partial(run, name)
    for name in (SOLUTION, FUSED):
        yield FLOAT32 + name, partial(pair, place, training_task, name)


def padded(place: Place, known: Found) -> Figures:
    """Measure training steps with padding: sentences of 256 to 512 words."""
    yield "size", lambda: asdict(size_of(place))
    yield "peak, bf16", partial(peak, place)
    run = partial(pair, place, partial(training_task, bf16=True), known=known, padded=True)
    for name in (SOLUTION, FUSED, CUDNN, PACKED, PACKED + COMPILED, TUNED, TORCH + COMPILED):
        yield BF16 + name, partial(run, name)
    yield "three ways of making batches", partial(ways_of_batching, place)


def inference(place: Place, known: Found) -> Figures:
    """Measure inference with weights in bf16: torch's fast path is not taken under autocast."""
    yield "size", lambda: asdict(size_of(place))
    run = partial(pair, place, partial(inference_task, bf16=True))
    for name in (SOLUTION, FUSED, FLASH, CUDNN):
        yield BF16 + name, partial(run, name)
    yield BF16 + BEST, lambda: run(best(known) + COMPILED)
    for name in (SOLUTION, FUSED, PACKED, PACKED + COMPILED):
        yield f"with padding, {BF16}{name}", partial(run, name, padded=True)
    yield BF16 + TORCH + COMPILED, partial(run, TORCH + COMPILED)


def pair(
    place: Place,
    task: Any,
    name: str,
    *,
    known: Found | None = None,
    size: Size | None = None,
    padded: bool = False,
) -> Table:
    """Measure one model and `nn.TransformerEncoder` in turns.

    Args:
        place: where.
        task: what is timed.
        name: the model.
        known: figures that hold the peak, for shares of it; None for no shares.
        size: size of models and batch, by default the place's.
        padded: whether the batch has padding.

    """
    if name.endswith(COMPILED) and place.toy:
        raise Skipped("nothing is compiled at toy sizes")
    if name.startswith(PACKED) and (why := why_not_packed(place.device)):
        raise Skipped(why)
    return table(
        (name, TORCH),
        size or size_of(place),
        place.device,
        task,
        padded=padded,
        peak=((known or {}).get("peak, bf16") or {}).get(MEASURED),
        care=place.care,
    )


def best(known: Found) -> str:
    """Return the fused attention that was fastest; without figures, torch's own choice."""
    speed = {
        name: known[BF16 + name][name]["words per second"]
        for name in BACKENDS
        if is_known(known.get(BF16 + name))
    }
    return max(speed, key=lambda name: speed[name], default=FUSED)


def peak(place: Place) -> dict[str, float | None]:
    """Measure the most that a large matrix product reaches, beside what the maker states."""
    found = matmul_peak(place.device, 64 if place.toy else 8192, place.care)
    return {MEASURED: float(f"{found:.4g}"), "stated peak, TFLOP/s": stated_peak()}


def ways_of_batching(place: Place) -> dict[str, Any]:
    """Measure the lesson's tagger with batches made in three ways; see `padding`."""
    if place.toy:
        raise Skipped("it has no toy size")
    return padding()


def size_of(place: Place) -> Size:
    """Return the large size, with fewer sentences (a power of two) if memory is short."""
    if place.toy:
        return TOY
    fit = torch.cuda.get_device_properties(place.device).total_memory / PER_SENTENCE
    return replace(LARGE, batch=min(LARGE.batch, 2 ** int(math.log2(fit))))
