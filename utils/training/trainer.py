"""The loop around your `train_step`: epochs, progress, the best model, stopping and resuming.

All devices share one code path. A checkpoint holds everything that its run depends on, so a run
that is stopped and resumed gives the same result as one that was never stopped.
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from utils.experiments.device import best_device
from utils.experiments.train import bar
from utils.training.checkpoint import (
    State,
    load_checkpoint,
    random_states,
    save_checkpoint,
    set_random_states,
)
from utils.training.config import Settings

Batch = tuple[Tensor, Tensor, Tensor]  # ids (B, T), lengths (B,), tags (B, T)
Batches = Callable[[torch.Generator], Sequence[Batch]]
# (model, batch, optimizer, scheduler, device, clip) -> loss: the exercise `train_step`.
TrainStep = Callable[[nn.Module, Batch, Optimizer, LambdaLR, torch.device, float], float]
Rates = Callable[[int, int], float]  # step from 1, number of steps -> learning rate
LEAST = 0.01  # share of the highest rate that is left at the end


@dataclass(frozen=True)
class Epoch:
    """The measurements of one pass over the data.

    Attributes:
        loss: mean loss of its steps.
        accuracy: accuracy on dev afterwards.
        seconds: duration of training alone.
        words: number of words trained on; padding does not count.

    """

    loss: float
    accuracy: float
    seconds: float
    words: int


@dataclass
class History:
    """The curves of a run.

    Attributes:
        losses: loss of every step.
        rates: learning rate of every step.
        epochs: measurements of every epoch.
        planned: number of epochs that the run will have; 0 if nobody knows.

    """

    losses: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    epochs: list[Epoch] = field(default_factory=list)
    planned: int = field(default=0, compare=False)

    @property
    def may_be_done(self) -> bool:
        """Return whether no further epoch is planned."""
        return len(self.epochs) >= self.planned

    @property
    def best(self) -> Epoch:
        """Return the epoch whose model was kept: the first with the highest dev accuracy."""
        return max(self.epochs, key=lambda epoch: epoch.accuracy)

    @property
    def words_per_second(self) -> float:
        """Return the training speed over all epochs."""
        return sum(e.words for e in self.epochs) / sum(e.seconds for e in self.epochs)


def fit(
    model: nn.Module,
    batches: Batches,
    train_step: TrainStep,
    accuracy: Callable[[nn.Module], float],
    settings: Settings,
    *,
    title: str = "training",
    device: str | None = None,
    rates: Rates | None = None,
    checkpoint: Path | None = None,
    after_epoch: Callable[[History], object] | None = None,
) -> History:
    """Train a model in place and leave it as it was after its best epoch.

    A bar shows loss, dev accuracy and words per second (of this epoch, and when it is done of all
    so far); TQDM_DISABLE=1 hides it. A run that was stopped resumes from its checkpoint when you
    start it again with the same settings; the checkpoint is removed when the run is done.

    Args:
        model: ids (B, T) -> logits; moved to the device.
        batches: called before each epoch with a generator that decides the order.
        train_step: your `train_step`.
        accuracy: measures the model's accuracy on dev, from 0 to 1.
        settings: epochs, rate, clip, seed and so on.
        title: text before the bar.
        device: where to train; by default the fastest device available.
        rates: (step, steps) -> learning rate, in place of the settings' schedule.
        checkpoint: file to write after each epoch.
        after_epoch: called with the curves so far, to draw them.

    """
    run = Run(model, batches, settings, torch.device(device or best_device()), rates)
    if checkpoint is not None:
        run.go_on_from(checkpoint, title)
    with bar(title, run.steps, len(run.history.losses)) as shown:
        while len(run.history.epochs) < settings.epochs:
            run.epoch(train_step, accuracy, shown)
            if checkpoint is not None:
                save_checkpoint(checkpoint, run.state())
            if after_epoch is not None:
                after_epoch(run.history)
    model.load_state_dict(run.best)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return run.history


class Run:
    """A model in training, with everything that decides how training continues.

    Args:
        model: trained in place; moved to the device.
        batches: returns the batches of an epoch.
        settings: rate, epochs, seed and so on.
        device: where to train.
        rates: (step, steps) -> learning rate, in place of the settings' schedule.

    """

    def __init__(
        self,
        model: nn.Module,
        batches: Batches,
        settings: Settings,
        device: torch.device,
        rates: Rates | None = None,
    ) -> None:
        self.model, self.batches, self.settings = model.to(device), batches, settings
        self.device, self.best = device, copied(model)
        self.history = History(planned=settings.epochs)
        # All epochs have about equally many batches, so one epoch tells the length of the run.
        self.steps = settings.epochs * len(batches(torch.Generator().manual_seed(settings.seed)))
        self.order = torch.Generator().manual_seed(settings.seed)
        self.optimizer = AdamW(
            model.parameters(), 1.0, (0.9, 0.98), weight_decay=settings.weight_decay, fused=True
        )
        at = rates or (lambda step, steps: rate_at(settings, step, steps))
        self.scheduler = LambdaLR(self.optimizer, lambda done: at(done + 1, self.steps))
        torch.manual_seed(settings.seed)

    def epoch(
        self, train_step: TrainStep, accuracy: Callable[[nn.Module], float], bar: Any
    ) -> None:
        """Train for one epoch, measure, and keep the model if it is the best so far."""
        losses, words, start = [], 0, time.perf_counter()
        for batch in self.batches(self.order):
            self.history.rates.append(float(self.scheduler.get_last_lr()[0]))
            losses.append(
                train_step(
                    self.model,
                    batch,
                    self.optimizer,
                    self.scheduler,
                    self.device,
                    self.settings.clip,
                )
            )
            words += int(batch[1].sum())
            bar.set_postfix(self._shown(losses[-1], words / (time.perf_counter() - start)), False)
            bar.update()
        seconds = time.perf_counter() - start
        self.history.losses += losses
        measured = Epoch(sum(losses) / len(losses), accuracy(self.model), seconds, words)
        self.history.epochs.append(measured)
        bar.set_postfix(self._shown(losses[-1], self.history.words_per_second))
        if self.history.best is measured:
            self.best = copied(self.model)

    def _shown(self, loss: float, words_per_second: float) -> dict[str, str]:
        shown = {"loss": f"{loss:.3f}"}
        if self.history.epochs:
            shown["dev"] = f"{self.history.epochs[-1].accuracy:.1%}"
        return shown | {"words/s": f"{words_per_second:,.0f}"}

    def go_on_from(self, checkpoint: Path, title: str) -> None:
        """Resume from the checkpoint if it belongs to this run."""
        state = load_checkpoint(checkpoint)
        if state is None:
            return
        if state["of"] != self._identity():
            sys.stdout.write(f"{title}: {checkpoint} is of another run; starting anew\n")
            return
        self._set_state(state)
        done = f"{len(self.history.epochs)} of {self.settings.epochs} epochs"
        sys.stdout.write(f"{title}: going on after {done}; to start anew, remove {checkpoint}\n")

    def state(self) -> State:
        """Return everything that decides how the run continues, as tensors, numbers and strings."""
        return {
            "of": self._identity(),
            "model": self.model.state_dict(),
            "best": self.best,
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "order": self.order.get_state(),
            "random": random_states(self.device),
            "history": {
                # A tensor each: to write numbers one by one takes longer than to write the model.
                "losses": torch.tensor(self.history.losses, dtype=torch.float64),
                "rates": torch.tensor(self.history.rates, dtype=torch.float64),
                "epochs": [asdict(epoch) for epoch in self.history.epochs],
            },
        }

    def _set_state(self, state: State) -> None:
        self.model.load_state_dict(state["model"])
        self.best = state["best"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        self.order.set_state(state["order"])
        set_random_states(state["random"], self.device)
        history = state["history"]
        kept = (history["losses"], history["rates"])
        losses, rates = (torch.as_tensor(curve, dtype=torch.float64).tolist() for curve in kept)
        epochs = [Epoch(**epoch) for epoch in history["epochs"]]
        self.history = History(losses, rates, epochs, self.settings.epochs)

    def _identity(self) -> State:
        """Return what two runs must share for one to resume from the other's state."""
        shapes = {name: list(value.shape) for name, value in self.model.state_dict().items()}
        return {"settings": asdict(self.settings), "steps": self.steps, "shapes": shapes}


def rate_at(settings: Settings, step: int, steps: int) -> float:
    """Return the learning rate of a step, from 1 to `steps`: linear warm-up, then decay."""
    warmup = max(1, round(settings.warmup * steps))
    if step <= warmup:
        return settings.rate * step / warmup
    if settings.decay == "root":
        return settings.rate * math.sqrt(warmup / step)
    left = (steps - step) / max(1, steps - warmup)
    if settings.decay == "cosine":
        left = (1 - math.cos(math.pi * left)) / 2
    return settings.rate * max(left, LEAST)


def copied(model: nn.Module) -> dict[str, Tensor]:
    """Return a copy of a model's parameters and buffers."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
