"""One step of training: right answers and common mistakes."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.framework.combining import by_choices
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training import clipping
from utils.checks.lessons.training.probes import PROBES
from utils.reference.tagging import IGNORED, reference_token_loss


def step_oracle(  # noqa: PLR0917 (these are the exercise's arguments)
    model: nn.Module,
    batch: tuple[Tensor, Tensor, Tensor],
    optimizer: torch.optim.Optimizer,
    scheduler: Any,
    device: torch.device,
    clip: float = 1.0,
) -> float:
    """Compute gradients apart from the parameters, clip them by hand, then assign them."""
    ids, _, tags = (x.to(device) for x in batch)
    parameters = list(model.train().parameters())
    with _half_precision(device):
        chosen = F.log_softmax(model(ids), -1).flatten(0, 1)
        loss = F.nll_loss(chosen, tags.flatten(), ignore_index=IGNORED)
    gradients = torch.autograd.grad(loss, parameters)
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient * min(1.0, clip / (float(length) + 1e-6))
    optimizer.step()
    scheduler.step()
    return loss.item()


@contextlib.contextmanager
def _half_precision(
    device: torch.device, where: str = "cuda", dtype: torch.dtype = torch.bfloat16
) -> Iterator[None]:
    """Enable autocast on devices of type `where`, or "everywhere" or "nowhere"."""
    kinds = {"everywhere": device.type, "nowhere": ""}
    with torch.autocast(device.type, dtype, enabled=kinds.get(where, where) == device.type):
        yield


ORDER = ("zero", "forward", "backward", "clip", "step", "schedule")
Loss = Callable[[Tensor, Tensor], Tensor]


@by_choices
def _step(
    *,
    order: Sequence[str] = ORDER,
    mode: Callable[[nn.Module], object] = nn.Module.train,
    clipper: Callable[[clipping.Groups, float], None] = clipping.by_norm,
    loss_of: Loss = reference_token_loss,
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
        loss_of: (logits, tags) -> loss.
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
            with _half_precision(device, autocast, dtype):
                logits = model(ids, batch[1]) if with_lengths else model(ids)
            with _half_precision(device, autocast if halves_loss else "nowhere", dtype):
                return loss_of(logits, tags)

        actions: dict[str, Callable[[], Any]] = {
            "zero": optimizer.zero_grad,
            "clip": lambda: clipper([g["params"] for g in optimizer.param_groups], clip),
            "step": optimizer.step,
            "schedule": lambda: scheduler.step(*[loss.item()] * tells_scheduler),
        }
        loss = torch.zeros(())
        for action in order:
            if action == "forward":
                loss = forward()
            elif action == "backward":
                with _half_precision(device, autocast if halves_backward else "nowhere", dtype):
                    torch.autograd.backward(loss)
            else:
                actions[action]()
        return gives(loss, forward)

    return train_step


def _without(action: str) -> tuple[str, ...]:
    return tuple(one for one in ORDER if one != action)


def _padding_in_the_mean(logits: Tensor, tags: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), tags.flatten(), reduction="sum") / tags.numel()


def _padding_as_tag_zero(logits: Tensor, tags: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), tags.clamp(min=0).flatten())


def _sum_over_words(logits: Tensor, tags: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), tags.flatten(), reduction="sum")


STEP = Exercise(
    PROBES["train_step"],
    step_oracle,
    (
        Mistake(
            "train_mode_forgotten",
            "The model is not in train mode as it runs: after an evaluation dropout stays off.",
            "Modules have a method for each of their two modes. Call it before the model.",
            _step(mode=nn.Module.eval),
        ),
        Mistake(
            "parts_not_in_train_mode",
            "The model says that it trains, its parts are still in eval mode.",
            "An assignment to .training changes one module; train() all of its parts too.",
            _step(mode=lambda model: setattr(model, "training", True)),
        ),
        Mistake(
            "gradients_pile_up",
            "Gradients of earlier steps are still there: backward() adds to what it finds.",
            "Clear them before backward().",
            _step(order=_without("zero")),
        ),
        Mistake(
            "gradients_cleared_too_late",
            "The gradients are cleared between backward() and the optimiser's step: nothing is "
            "learned.",
            "Clear them before backward().",
            _step(order=("forward", "backward", "clip", "zero", "step", "schedule")),
        ),
        Mistake(
            "step_before_backward",
            "The optimiser takes its step before backward() has worked out the gradients.",
            "First the gradients, then the step that uses them.",
            _step(order=("zero", "forward", "step", "backward", "clip", "schedule")),
        ),
        Mistake(
            "gradients_cleared_at_the_end",
            "The gradients are cleared after the step, so what an earlier user of the model left "
            "is added to the first one.",
            "Clear them before backward(), whoever came before.",
            _step(order=("forward", "backward", "clip", "step", "schedule", "zero")),
        ),
        Mistake(
            "no_backward",
            "No gradients are worked out.",
            "The loss has a method for that.",
            _step(order=_without("backward")),
        ),
        Mistake(
            "not_clipped",
            "Large gradients are not cut.",
            "torch.nn.utils has a function that cuts by norm. It works on finished gradients, and "
            "before the optimiser uses them.",
            _step(order=_without("clip")),
        ),
        Mistake(
            "clipped_by_the_largest_entry",
            "The gradients are cut by their largest entry, not by their length.",
            "Leave norm_type as it is: 2 stands for the length.",
            _step(clipper=clipping.by_largest),
        ),
        Mistake(
            "clipped_by_value",
            "Each entry of the gradient is cut by itself, which changes its direction.",
            "Clip by norm: all gradients together are made shorter, none is bent.",
            _step(clipper=clipping.by_value),
        ),
        Mistake(
            "clipped_each_alone",
            "Each parameter's gradient is cut by itself.",
            "One norm, over the gradients of all parameters together.",
            _step(clipper=clipping.each_alone),
        ),
        Mistake(
            "clipped_by_groups",
            "Each of the optimiser's groups of parameters is cut by itself.",
            "One norm, over the gradients of all parameters together: the model has them all.",
            _step(clipper=clipping.each_group),
        ),
        Mistake(
            "clipped_in_the_first_group",
            "Only the first of the optimiser's groups of parameters is cut.",
            "An optimiser may have several groups; the model has all parameters.",
            _step(clipper=clipping.first_group),
        ),
        Mistake(
            "norm_without_its_root",
            "The gradients are cut by the sum of their squares, which is the square of their norm.",
            "The norm is the root of that sum.",
            _step(clipper=clipping.by_the_square),
        ),
        Mistake(
            "absolute_values_added",
            "The gradients are cut by the sum of their absolute values, which is more than their "
            "norm.",
            "The usual norm is the root of the sum of squares: clip_grad_norm_ takes it unasked.",
            _step(clipper=clipping.by_absolute_values),
        ),
        Mistake(
            "norms_added",
            "The norms of the single parameters are added, which is more than the common norm.",
            "Add up the squares of all entries, and take the root of that.",
            _step(clipper=clipping.by_the_sum),
        ),
        Mistake(
            "matrices_clipped_alone",
            "Matrices are cut, and biases are not: nor does their gradient count in the norm.",
            "All parameters go into clip_grad_norm_, whatever their form.",
            _step(clipper=clipping.matrices_alone),
        ),
        Mistake(
            "small_gradients_made_longer",
            "Gradients that are short already are stretched to the length `clip`.",
            "`clip` is a limit, not a target.",
            _step(clipper=clipping.always),
        ),
        Mistake(
            "clip_fixed",
            "The gradients are always cut to 1, whatever `clip` says.",
            "Hand the argument on.",
            _step(clipper=lambda groups, clip: clipping.by_norm(groups, 1.0)),
        ),
        Mistake(
            "optimizer_not_stepped",
            "The parameters never change.",
            "Gradients are there: something has to take a step with them.",
            _step(order=_without("step")),
        ),
        Mistake(
            "scheduler_not_stepped",
            "The learning rate never changes.",
            "The scheduler counts a step only when it is told to.",
            _step(order=_without("schedule")),
        ),
        Mistake(
            "loss_told_to_the_scheduler",
            "The scheduler is handed something: its step() takes nothing.",
            "It counts steps, and needs no loss for that.",
            _step(tells_scheduler=True),
        ),
        Mistake(
            "scheduler_first",
            "The scheduler comes before the optimiser, so the first learning rate is skipped.",
            "First take the step, then set the rate for the next one.",
            _step(order=("zero", "forward", "backward", "clip", "schedule", "step")),
        ),
        Mistake(
            "returns_a_tensor",
            "The loss comes back as a tensor, which keeps the whole graph in memory.",
            "`.item()` makes a plain number of it.",
            _step(gives=lambda loss, again: loss),
        ),
        Mistake(
            "loss_after_the_step",
            "The loss was worked out again, after the step.",
            "Return the loss that the gradients came from; it costs nothing.",
            _step(gives=lambda loss, again: again().item()),
        ),
        Mistake(
            "padding_counted",
            "Padding counts in the loss.",
            "Use your token_loss.",
            _step(loss_of=_padding_in_the_mean),
        ),
        Mistake(
            "lengths_for_features",
            "The model is given the lengths beside the ids, and takes them for features.",
            "The tagger's second argument is `features`; it needs no lengths to find the padding.",
            _step(with_lengths=True),
        ),
        Mistake(
            "lengths_for_tags",
            "The lengths are taken for the tags.",
            "collate gives (ids, lengths, tags), in this order.",
            _step(tags_at=1),
        ),
        Mistake(
            "padding_as_tag_zero",
            "At padding the model is asked for tag 0.",
            "Use your token_loss.",
            _step(loss_of=_padding_as_tag_zero),
        ),
        Mistake(
            "loss_of_the_sum",
            "The losses of the words are summed: gradients and loss grow with the batch.",
            "Use your token_loss as it is: a mean.",
            _step(loss_of=_sum_over_words),
        ),
        Mistake(
            "optimizer_steps_twice",
            "The optimiser takes two steps with the same gradients.",
            "One call of train_step is one step.",
            _step(order=("zero", "forward", "backward", "clip", "step", "step", "schedule")),
        ),
        Mistake(
            "scheduler_steps_twice",
            "The scheduler counts two steps for one.",
            "One call of train_step is one step.",
            _step(order=(*ORDER, "schedule")),
        ),
        Mistake(
            "softmax_twice",
            "Softmax is taken before the loss.",
            "token_loss wants plain logits.",
            _step(loss_of=lambda logits, tags: reference_token_loss(logits.softmax(-1), tags)),
        ),
        Mistake(
            "autocast_everywhere",
            "Precision is halved on the CPU too, where it costs accuracy and saves no time.",
            "autocast has an argument `enabled`; ask for the type of the device.",
            _step(autocast="everywhere"),
        ),
        Mistake(
            "no_autocast_on_the_gpu",
            "On a GPU there is no autocast.",
            "torch.autocast(device.type, ...) around the forward pass and the loss.",
            _step(autocast="nowhere"),
        ),
        Mistake(
            "loss_without_autocast",
            "On a GPU the loss is worked out after autocast has ended, from logits in bfloat16.",
            "The loss belongs inside the `with` block too: autocast turns to float32 for it.",
            _step(halves_loss=False),
        ),
        Mistake(
            "backward_under_autocast",
            "On a GPU the gradients are worked out under autocast.",
            "End the `with` block after the loss: backward takes the precision of what it undoes.",
            _step(halves_backward=True),
        ),
        Mistake(
            "float16_on_the_gpu",
            "autocast runs in float16, in which small gradients vanish unless the loss is scaled.",
            "Say dtype=torch.bfloat16.",
            _step(dtype=torch.float16),
        ),
        Mistake(
            "batch_not_moved",
            "The batch stays on the CPU.",
            "Words and tags have to be where the model is: .to(device).",
            _step(moves="nothing"),
        ),
        Mistake(
            "tags_not_moved",
            "The words go to the device, the tags stay behind.",
            "The loss needs both in one place.",
            _step(moves="words"),
        ),
    ),
    tolerance=1e-4,
)

EXERCISES = by_id(STEP)
