"""Words per second of lesson 06's rotary encoder and LSTMs: `python -m bench.tagging_speed [DIR]`.

Training steps on all batches of an epoch, and tagging them, by turns in one run, with one thread
and with all. Both LSTMs have as many parameters as the encoder's layers. A ratio above 1 says that
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

from bench.__main__ import keep
from bench.speed_timing import Run, in_turns, ratio
from bench.tagging_search import LESSON, START, Data, Trial, build, changed
from utils.data import load_treebank

CPU = torch.device("cpu")
LSTM = replace(START, model="bilstm")
TRIALS = {
    "rotary encoder": START,
    "LSTM, two layers": changed(LSTM, "lstm_layers", 2),
    "LSTM, one layer": changed(LSTM, "lstm_layers", 1),
}
ROUNDS = 7


def measure(folder: str | None = None) -> dict[str, Any]:
    """Words per second and ratios, training and tagging, for each number of threads."""
    treebank = load_treebank(folder=folder)
    torch.set_flush_denormal(True)  # as in the lesson
    data, all_threads = Data(treebank, START.settings), torch.get_num_threads()
    found: dict[str, Any] = {"data": str(treebank).split("\n")[0]}
    for threads in sorted({1, all_threads}):
        torch.set_num_threads(threads)
        for what, make in (("training", training), ("tagging", tagging)):
            runs = {name: make(trial, data) for name, trial in TRIALS.items()}
            found[f"{what}, threads: {threads}"] = compared(runs, words_in(data))
    return found


def drawn(data: Data) -> list[Any]:
    """The batches of an epoch, the same for all."""
    return data.batches(START.settings.max_tokens)(torch.Generator().manual_seed(0))


def words_in(data: Data) -> int:
    """How many words those are, without padding."""
    return sum(int(lengths.sum()) for _, lengths, _ in drawn(data))


def training(trial: Trial, data: Data) -> Run:
    """One step on each batch."""
    model, batches = build(trial, data), drawn(data)
    optimizer = AdamW(model.parameters(), trial.settings.rate, fused=True)
    step: Callable[[Any], float] = partial(
        LESSON.train_step,
        model,
        optimizer=optimizer,
        scheduler=ConstantLR(optimizer, 1.0),
        device=CPU,
    )
    return lambda: [step(batch) for batch in batches]


def tagging(trial: Trial, data: Data) -> Run:
    """Logits of each batch, in eval mode."""
    model, batches = build(trial, data).eval(), drawn(data)
    return torch.no_grad()(lambda: [model(ids) for ids, _, _ in batches])


def compared(runs: dict[str, Run], words: int) -> dict[str, dict[str, float]]:
    """Words per second of all, and how many times as fast as each the encoder is."""
    seconds = in_turns(runs, CPU, ROUNDS)
    encoder = seconds["rotary encoder"]
    return {
        name: {"words/s": round(words / median(own)), "ratio": ratio(own, encoder)}
        for name, own in seconds.items()
    }


if __name__ == "__main__":
    keep("tagging_speed", measure(*sys.argv[1:]))
