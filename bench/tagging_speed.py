"""Words per second of lesson 06's rotary encoder and LSTMs: `python -m bench.tagging_speed [DIR]`.

Training on all batches of an epoch and tagging them are timed in turns in one run, with one thread
and with all. Both LSTMs have as many parameters as the encoder's layers. A ratio above 1 means that
the encoder is faster than that LSTM.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import torch
from torch.optim import AdamW
from torch.optim.lr_scheduler import ConstantLR

from bench.record import keep
from bench.speed.timing import Care, Run, in_turns, ratio
from bench.tagging_search import LESSON, START, Data, Trial, build, changed
from utils.treebank.loader import load_treebank

CPU = torch.device("cpu")
LSTM = replace(START, model="bilstm")
TRIALS = {
    "rotary encoder": START,
    "LSTM, two layers": changed(LSTM, "lstm_layers", 2),
    "LSTM, one layer": changed(LSTM, "lstm_layers", 1),
}
CARE = Care(rounds=7)


def measure(folder: str | None = None) -> dict[str, Any]:
    """Return words per second and ratios, of training and tagging, for each number of threads."""
    treebank = load_treebank(folder=folder)
    torch.set_flush_denormal(True)  # as in the lesson
    data, all_threads = Data(treebank, START.settings), torch.get_num_threads()
    found: dict[str, Any] = {"data": str(treebank).split("\n")[0]}
    for threads in sorted({1, all_threads}):
        torch.set_num_threads(threads)
        for what, make in (("training", training), ("tagging", tagging)):
            runs = {name: make(trial, data) for name, trial in TRIALS.items()}
            found[f"{what}, threads: {threads}"] = compared(runs, sum(data.lengths))
    return found


def drawn(trial: Trial, data: Data) -> list[Any]:
    """Return the batches of an epoch, the same for all models of the same settings."""
    return data.batches(trial.settings.max_tokens)(torch.Generator().manual_seed(0))


def training(trial: Trial, data: Data, device: torch.device = CPU) -> Run:
    """Return a run that takes one step on each batch."""
    model, batches = build(trial, data).to(device), drawn(trial, data)
    optimizer = AdamW(model.parameters(), trial.settings.rate, fused=True)
    step: Callable[[Any], float] = partial(
        LESSON.train_step,
        model,
        optimizer=optimizer,
        scheduler=ConstantLR(optimizer, 1.0),
        device=device,
    )
    return lambda: [step(batch) for batch in batches]


def tagging(trial: Trial, data: Data, device: torch.device = CPU) -> Run:
    """Return a run that computes the logits of each batch, in eval mode."""
    model, batches = build(trial, data).to(device).eval(), drawn(trial, data)
    return torch.no_grad()(lambda: [model(ids.to(device)) for ids, _, _ in batches])


def compared(
    runs: dict[str, Run], words: int, device: torch.device = CPU, care: Care = CARE
) -> dict[str, dict[str, float]]:
    """Return each model's words per second, and how many times as fast the encoder is."""
    seconds = in_turns(runs, device, care)
    encoder = seconds["rotary encoder"]
    return {
        name: {"words/s": round(words / median(own)), "ratio": ratio(own, encoder)}
        for name, own in seconds.items()
    }


if __name__ == "__main__":
    keep("tagging_speed", measure(*sys.argv[1:]))
