"""The training loop for the lessons' small models."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn
from tqdm import tqdm

BAR: Final = "{desc} {percentage:3.0f}% |{bar:20}| {elapsed}<{remaining}{postfix}"
REFRESH: Final = 0.5  # seconds


@dataclass(frozen=True)
class Progress:
    """A record of every training step.

    Attributes:
        losses: values of the loss.
        norms: norms of the gradient over all parameters, before clipping.

    """

    losses: list[float]
    norms: list[float]


def bar(title: str, steps: int, done: int = 0) -> "tqdm[Any]":
    """Return a bar that shows how far a training is; TQDM_DISABLE=1 hides it.

    It is used in `with`, and moved on by its `update()`.

    Args:
        title: what stands before it; "" hides it.
        steps: how many steps there are.
        done: how many of them are done already.

    """
    return tqdm(
        desc=title,
        total=steps,
        initial=done,
        bar_format=BAR,
        mininterval=REFRESH,
        file=sys.stdout,
        disable=not title or bool(os.environ.get("TQDM_DISABLE")),
    )


def train(
    model: nn.Module,
    loss: Callable[[torch.Generator], Tensor],
    *,
    steps: int,
    seed: int = 0,
    rate: float = 0.01,
    warm_up: int = 0,
    falling: float = 0.0,
    clip: float = torch.inf,
    method: Callable[..., Any] = torch.optim.Adam,
    after: Callable[[int], object] | None = None,
    title: str = "",
) -> Progress:
    """Train a small model in place.

    Args:
        model: the model to train.
        loss: generator -> loss on a new batch drawn from it.
        steps: number of updates.
        seed: decides every batch.
        rate: initial learning rate, after the warm-up.
        warm_up: steps over which the rate rises linearly to `rate`.
        falling: if above 0, the rate falls linearly over the last 1 / falling of the steps (2: the
            second half), to about falling / 100 of the initial rate.
        clip: norm to which longer gradients are shortened.
        method: class of the optimiser.
        after: called after each step with the number of steps done.
        title: what stands before a bar that shows how far it is; "" shows none.

    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = method(model.parameters(), rate)
    progress = Progress([], [])
    with bar(title, steps) as shown:
        for step in range(steps):
            risen = min(1.0, (step + 1) / max(warm_up, 1))
            optimizer.param_groups[0]["lr"] = rate * risen * _share(step / steps, falling)
            found = loss(generator)
            optimizer.zero_grad()
            torch.autograd.backward(found)
            progress.norms.append(nn.utils.clip_grad_norm_(model.parameters(), clip).item())
            optimizer.step()
            progress.losses.append(found.item())
            if after is not None:
                after(step + 1)
            shown.update()
    return progress


def _share(done: float, falling: float) -> float:
    """Return the rate as a share of the initial one, when the share `done` of the steps is done."""
    return min(1.0, falling * (1 - done) + falling / 100) if falling else 1.0
