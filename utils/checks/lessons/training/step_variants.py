"""A train_step with one thing done differently, from which known mistakes are made."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.lessons.training import clipping
from utils.reference.tagging import IGNORED, reference_token_loss


@contextlib.contextmanager
def half_precision(
    device: torch.device, where: str = "cuda", dtype: torch.dtype = torch.bfloat16
) -> Iterator[None]:
    """Enable autocast on devices of type `where`, or "everywhere" or "nowhere"."""
    kinds = {"everywhere": device.type, "nowhere": ""}
    with torch.autocast(device.type, dtype, enabled=kinds.get(where, where) == device.type):
        yield


ORDER = ("zero", "forward", "backward", "clip", "step", "schedule")
Loss = Callable[[Tensor, Tensor], Tensor]


@by_choices
def step(
    *,
    order: Sequence[str] = ORDER,
    mode: Callable[[nn.Module], object] = nn.Module.train,
    clipper: Callable[[clipping.Groups, float], None] = clipping.by_norm,
    steps_at: Callable[[clipping.Groups, float], bool] = lambda groups, clip: True,
    loss_of: Loss = reference_token_loss,
    differentiated: Loss = lambda loss, tags: loss,
    autocast: str = "cuda",
    dtype: torch.dtype = torch.bfloat16,
    halves_loss: bool = True,
    halves_backward: bool = False,
    moves: str = "words and tags",
    tags_at: int = 2,
    with_lengths: bool = False,
    tells_scheduler: bool = False,
    gives: Callable[[Tensor, Callable[[], Tensor]], Any] = lambda loss, again: loss.item(),
) -> Callable[..., Any]:
    """Build a train_step with one thing done differently.

    Args:
        order: the actions, in order.
        mode: sets the mode of the model.
        clipper: how gradients are clipped.
        steps_at: (gradients' parameters, clip) -> whether the optimiser takes its step.
        loss_of: (logits, tags) -> loss.
        differentiated: (loss, tags) -> that whose gradients are taken.
        autocast: the device type that gets half precision, or "everywhere" or "nowhere".
        dtype: the precision of autocast.
        halves_loss: whether the loss is computed under autocast.
        halves_backward: whether gradients are computed under autocast.
        moves: what is moved to the device.
        tags_at: which part of the batch is taken for the tags.
        with_lengths: whether the model is given the lengths too.
        tells_scheduler: whether the scheduler is given the loss.
        gives: (loss, function that computes it again) -> what is returned.

    """

    def train_step(  # noqa: PLR0917 (these are the exercise's arguments)
        model: nn.Module, batch: Any, optimizer: Any, scheduler: Any, device: Any, clip: float = 1.0
    ) -> Any:
        mode(model)
        ids = batch[0].to(device) if "words" in moves else batch[0]
        tags = batch[tags_at].to(device) if "tags" in moves else batch[tags_at]

        def forward() -> Tensor:
            with half_precision(device, autocast, dtype):
                logits = model(ids, batch[1]) if with_lengths else model(ids)
            with half_precision(device, autocast if halves_loss else "nowhere", dtype):
                return loss_of(logits, tags)

        groups = [group["params"] for group in optimizer.param_groups]
        actions: dict[str, Callable[[], Any]] = {
            "zero": optimizer.zero_grad,
            "clip": lambda: clipper(groups, clip),
            "step": lambda: optimizer.step() if steps_at(groups, clip) else None,
            "schedule": lambda: scheduler.step(*[loss.item()] * tells_scheduler),
        }
        loss = torch.zeros(())
        for action in order:
            if action == "forward":
                loss = forward()
            elif action == "backward":
                with half_precision(device, autocast if halves_backward else "nowhere", dtype):
                    torch.autograd.backward(differentiated(loss, tags))
            else:
                actions[action]()
        return gives(loss, forward)

    return train_step


def without(action: str) -> tuple[str, ...]:
    """Return the actions but one."""
    return tuple(one for one in ORDER if one != action)


def mean_of_nothing(logits: Tensor, tags: Tensor) -> Tensor:
    """Divide by the number of words, also where it is 0."""
    return F.cross_entropy(logits.flatten(0, 1), tags.flatten())


def padding_in_the_mean(logits: Tensor, tags: Tensor) -> Tensor:
    """Divide by all positions."""
    return F.cross_entropy(logits.flatten(0, 1), tags.flatten(), reduction="sum") / tags.numel()


def padding_as_tag_zero(logits: Tensor, tags: Tensor) -> Tensor:
    """Ask for tag 0 at padding."""
    return F.cross_entropy(logits.flatten(0, 1), tags.clamp(min=0).flatten())


def sum_over_words(logits: Tensor, tags: Tensor) -> Tensor:
    """Add the losses of all words."""
    return F.cross_entropy(logits.flatten(0, 1), tags.flatten(), reduction="sum")


# What a mean is multiplied by before its gradients are taken.
TOO_LARGE: dict[str, Loss] = {
    "words": lambda loss, tags: loss * (tags != IGNORED).sum(),
    "positions": lambda loss, tags: loss * tags.numel(),
    "sentences": lambda loss, tags: loss * len(tags),
}
# What a mean is divided by before its gradients are taken.
TOO_SMALL: dict[str, Loss] = {
    "sentences": lambda loss, tags: loss / len(tags),
    "words": lambda loss, tags: loss / (tags != IGNORED).sum(),
    "positions": lambda loss, tags: loss / tags.numel(),
}
