"""What is timed of the compared models, and the table of their times."""

import statistics
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW

from bench.speed.models import TORCH, Size, batch_of, build
from bench.speed.timing import (
    USUAL,
    Care,
    Run,
    clear,
    in_turns,
    ratio,
    stated_peak,
    training_flops,
)

Table = dict[str, dict[str, float]]


def forward_backward(model: nn.Module, batch: Sequence[Tensor], *, bf16: bool = False) -> Run:
    """Return a run that computes loss and gradients, with dropout."""
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
    """Return a run that takes a whole step: loss, gradients, AdamW."""
    gradients = forward_backward(model, batch, bf16=bf16)
    optimizer = AdamW(model.parameters(), 1e-4, fused=True)

    def run() -> None:
        gradients()
        optimizer.step()

    return run


def inference(model: nn.Module, batch: Sequence[Tensor], *, bf16: bool = False) -> Run:
    """Return a run that computes only logits, without dropout and gradients."""
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
    care: Care = USUAL,
) -> Table:
    """Measure each model in turns: real words per second, and time relative to torch's encoder.

    Args:
        names: names of the models, `nn.TransformerEncoder` among them.
        size: size of the models and of the batch.
        device: where to compute.
        task: (model, batch) -> what is timed.
        padded: whether sentences have different lengths.
        peak: TFLOP/s of a matrix product; with it, shares of the peaks of training are told.
        care: how carefully to time.

    """
    clear(device)
    batch = batch_of(size, device, padded=padded)
    lengths = (batch[1] != -100).sum(1).tolist()
    seconds = in_turns({n: task(build(n, size, device), batch) for n in names}, device, care)
    times = {name: statistics.median(each) for name, each in seconds.items()}
    return {
        name: {
            "milliseconds": round(1e3 * times[name], 2),
            "words per second": round(sum(lengths) / times[name]),
            "time over nn.TransformerEncoder": ratio(seconds[name], seconds[TORCH]),
        }
        | (shares(training_flops(size, lengths), times[name], peak) if peak else {})
        for name in names
    }


def shares(flops: int, seconds: float, peak: float) -> dict[str, float]:
    """Return FLOPs per second, in TFLOP/s and as shares of the measured and the stated peak."""
    rate, stated = flops / seconds / 1e12, stated_peak()
    found = {"TFLOP/s": round(rate, 1), "share of measured peak": round(rate / peak, 3)}
    return found | ({"share of stated peak": round(rate / stated, 3)} if stated else {})
