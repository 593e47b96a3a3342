"""Is a decoder without attention too small, or too little trained? `python -m bench reversal`.

Lesson 02 trains each of its models for a few hundred steps. After so few steps a state that is too
small and a network that has not learned enough look the same. Here the plain model gets up to 13
times the steps, with the lesson's state and with one four times as wide, beside attention at the
lesson's steps. Sequences grow over the whole of each run, so every length of training is a run of
its own.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from utils.checks.lessons.attention.answers.additive import additive_oracle
from utils.checks.lessons.attention.answers.first import attend_oracle
from utils.experiments import reversal_task as task
from utils.experiments.seq2seq import AdditiveAttention, Seq2Seq, train

LENGTH, SYMBOLS, BATCH, UNSEEN = 20, 16, 32, 256
LESSON = 300  # steps in the lesson
STEPS = (LESSON, 1200, 4000)
STATES = (64, 256)
SEEDS = (0, 1, 2)


def measure() -> dict[str, Any]:
    """Return for each model its parameters and, by steps, what each seed got right."""
    torch.set_num_threads(1)
    found = {"attention, state 64": row(with_attention, (LESSON,))}
    for state in STATES:
        found[f"plain, state {state}"] = row(partial(plain, state), STEPS)
    return {"length": LENGTH, "guessing": 1 / SYMBOLS, "seeds": list(SEEDS), "models": found}


def row(make: Callable[[], Seq2Seq], all_steps: tuple[int, ...]) -> dict[str, Any]:
    """Train models of one kind for each number of steps, and examine them."""
    by_steps = {str(steps): [examined(make, steps, seed) for seed in SEEDS] for steps in all_steps}
    return {
        "parameters": sum(parameter.numel() for parameter in make().parameters()),
        "symbols": {steps: [symbols for symbols, _ in runs] for steps, runs in by_steps.items()},
        "sequences": {steps: [whole for _, whole in runs] for steps, runs in by_steps.items()},
    }


def examined(make: Callable[[], Seq2Seq], steps: int, seed: int) -> tuple[float, float]:
    """Train one model; return the shares of symbols and of whole unseen sequences it gets right."""
    torch.manual_seed(seed)
    model = make()
    batches = task.growing_batches(LENGTH, steps, BATCH, seed=seed + 1, n_symbols=SYMBOLS)
    train(model, batches, steps)
    unseen = task.reversal_batch([LENGTH] * UNSEEN, seed=99, n_symbols=SYMBOLS)
    tokens = model.answer(unseen.source, LENGTH).tokens
    symbols = task.token_accuracy(tokens, unseen.target)
    return round(symbols, 4), round(task.sequence_accuracy(tokens, unseen.target), 4)


def plain(state: int) -> Seq2Seq:
    """Return lesson 01's model with a state of this size."""
    return Seq2Seq(task.vocabulary_size(SYMBOLS), d_model=state)


def with_attention() -> Seq2Seq:
    """Return lesson 02's model with additive attention."""
    return Seq2Seq(task.vocabulary_size(SYMBOLS), AdditiveAttention(additive_oracle, attend_oracle))
