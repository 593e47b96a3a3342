"""The encoder's time beside an LSTM's: a part of `bench.gpu`.

"The LSTM is five times slower at 500 tokens" is tried at the sizes of the text that says so: width
256, six layers of encoder, two of a bidirectional LSTM, four sentences, forward and backward. Then
lesson 06's taggers, with the sizes that the lesson takes on a GPU.
"""

import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from bench.gpu.record import Figures, Found, Place, Skipped
from bench.speed.attention import FusedAttention
from bench.speed.models import DROPOUT, FUSED, SOLUTION, TORCH, Ours, Size
from bench.speed.timing import Run, in_turns, ratio
from bench.tagging_search import Data
from bench.tagging_speed import TRIALS, compared, tagging, training
from utils.training.config import ON_A_GPU, Settings
from utils.treebank.loader import Treebank, load_treebank

CLAIM = Size(256, 8, 6, 1024, batch=4, length=500)
TOY_CLAIM = Size(16, 2, 1, 32, batch=2, length=20)
TOY_TAGGER = Settings(d_model=16, n_heads=2, n_layers=1, d_ff=32)
TOY_SENTENCES = 60

Stack = Callable[[Tensor], Tensor]  # vectors (B, T, D) -> (B, T, D or twice that)


def figures(place: Place, _known: Found) -> Figures:
    """Measure the claim, then the taggers."""
    for title, bf16 in (("float32", False), ("bf16", True)):
        yield f"500 tokens, {title}", partial(claim, place, bf16=bf16)
    data = Data(treebank(place), settings(place))
    for what, make in (("training", training), ("tagging", tagging)):
        yield f"lesson 06's taggers, {what}", partial(taggers, place, data, make)


def claim(place: Place, *, bf16: bool) -> dict[str, Any]:
    """Compare encoders and LSTMs in turns, and return each one's time over the encoder's."""
    if bf16 and not runs_bf16(nn.LSTM(8, 8, bidirectional=True), place.device):
        raise Skipped("no LSTM in bf16 on this processor")
    size = TOY_CLAIM if place.toy else CLAIM
    torch.manual_seed(0)
    x = torch.randn(size.batch, size.length, size.d_model, device=place.device)
    modules = stacks(size)
    runs = {
        name: forward_backward(module.to(place.device).train(), call, x, bf16=bf16)
        for name, (module, call) in modules.items()
    }
    seconds = in_turns(runs, place.device, place.care)
    return {
        name: {
            "milliseconds": round(1e3 * statistics.median(own), 3),
            "time over the solution's": ratio(own, seconds[SOLUTION]),
            "time over nn.TransformerEncoder": ratio(own, seconds[TORCH]),
            "parameters": sum(p.numel() for p in modules[name][0].parameters()),
        }
        for name, own in seconds.items()
    }


def runs_bf16(lstm: nn.LSTM, device: torch.device) -> bool:
    """Try an LSTM in bf16: on some processors oneDNN has none, and only a call tells."""
    x = torch.ones(2, 3, lstm.input_size, device=device)
    run = forward_backward(lstm.to(device), partial(states, lstm), x, bf16=True)
    try:
        run()
    except RuntimeError:
        return False
    return True


def stacks(size: Size) -> dict[str, tuple[nn.Module, Stack]]:
    """Make all that is compared: layers without embedding, as modules and as functions."""
    d = size.d_model
    plain, fused = (Ours(size, attention).encoder for attention in (None, FusedAttention))
    for encoder in (plain, fused):
        encoder.embedding = nn.Identity()  # no part in this, nor in the number of parameters
    layer = nn.TransformerEncoderLayer(d, size.n_heads, size.d_ff, DROPOUT, batch_first=True)
    theirs = nn.TransformerEncoder(layer, size.n_layers)
    found: dict[str, tuple[nn.Module, Stack]] = {
        SOLUTION: (plain, plain.encode),
        FUSED: (fused, fused.encode),
        TORCH: (theirs, theirs),
    }
    for units in (d, d // 2):  # as wide as the encoder each way, or both ways together
        lstm = nn.LSTM(d, units, num_layers=2, bidirectional=True, batch_first=True)
        found[f"LSTM, {units} units each way"] = lstm, partial(states, lstm)
    return found


def states(lstm: nn.LSTM, x: Tensor) -> Tensor:
    """Return an LSTM's states at all positions (B, T, 2 units)."""
    found: Tensor = lstm(x)[0]
    return found


def forward_backward(module: nn.Module, call: Stack, x: Tensor, *, bf16: bool) -> Run:
    """Return a run that computes the gradients of the output's sum."""

    def run() -> None:
        module.zero_grad()
        with torch.autocast(x.device.type, torch.bfloat16, enabled=bf16):
            total = call(x).sum()
        torch.autograd.backward(total)

    return run


def settings(place: Place) -> Settings:
    """Return the sizes of the taggers."""
    return TOY_TAGGER if place.toy else ON_A_GPU


def treebank(place: Place) -> Treebank:
    """Load the treebank, or a little of it."""
    found = load_treebank()
    return replace(found, train=found.train[:TOY_SENTENCES]) if place.toy else found


def taggers(place: Place, data: Data, make: Callable[..., Run]) -> dict[str, Any]:
    """Compare the rotary tagger and the LSTMs in turns, in words per second."""
    sizes, device = settings(place), place.device
    trials = {
        name: replace(trial, settings=replace(sizes, lstm_layers=trial.settings.lstm_layers))
        for name, trial in TRIALS.items()
    }
    runs = {name: make(trial, data, device) for name, trial in trials.items()}
    return compared(runs, sum(data.lengths), device, place.care)
