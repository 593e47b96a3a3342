"""One step of training: right answers and common mistakes."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training import clipping
from utils.checks.lessons.training import step_variants as variants
from utils.checks.lessons.training.probes import PROBES
from utils.checks.lessons.training.step_variants import half_precision, step, without
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
    with half_precision(device):
        chosen = F.log_softmax(model(ids), -1).flatten(0, 1)
        loss = F.nll_loss(chosen, tags.flatten(), ignore_index=IGNORED, reduction="sum")
        loss = loss / (tags != IGNORED).sum().clamp(min=1)
    gradients = torch.autograd.grad(loss, parameters)
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient * min(1.0, clip / (float(length) + 1e-6))
    optimizer.step()
    scheduler.step()
    return loss.item()


STEP = Exercise(
    PROBES["train_step"],
    step_oracle,
    (
        Mistake(
            "mean_over_no_word",
            "In a batch without a real word the loss is NaN, 0 / 0, and the weights become NaN.",
            "Your token_loss gives 0 there; F.cross_entropy does not.",
            step(loss_of=variants.mean_of_nothing),
        ),
        Mistake(
            "train_mode_forgotten",
            "The model is not in train mode as it runs: after an evaluation dropout stays off.",
            "Modules have a method for each of their two modes. Call it before the model.",
            step(mode=nn.Module.eval),
        ),
        Mistake(
            "parts_not_in_train_mode",
            "The model says that it is training, but its parts are still in eval mode.",
            "An assignment to .training changes one module; train() changes all of its parts too.",
            step(mode=lambda model: setattr(model, "training", True)),
        ),
        Mistake(
            "gradients_pile_up",
            "Gradients of earlier steps are still there: backward() adds to what it finds.",
            "Clear them before backward().",
            step(order=without("zero")),
        ),
        Mistake(
            "gradients_cleared_too_late",
            "The gradients are cleared between backward() and the optimiser's step: nothing is "
            "learned.",
            "Clear them before backward().",
            step(order=("forward", "backward", "clip", "zero", "step", "schedule")),
        ),
        Mistake(
            "step_before_backward",
            "The optimiser takes its step before backward() has worked out the gradients.",
            "First the gradients, then the step that uses them.",
            step(order=("zero", "forward", "step", "backward", "clip", "schedule")),
        ),
        Mistake(
            "gradients_cleared_at_the_end",
            "The gradients are cleared after the step, so whatever was there before the first "
            "step is added to its gradients.",
            "Clear them before backward(), whatever was done before.",
            step(order=("forward", "backward", "clip", "step", "schedule", "zero")),
        ),
        Mistake(
            "no_backward",
            "No gradients are computed.",
            "The loss has a method for that.",
            step(order=without("backward")),
        ),
        Mistake(
            "not_clipped",
            "Nothing is clipped between backward() and the optimiser's step: it uses large "
            "gradients as they are.",
            "torch.nn.utils has a function that clips by norm. It needs finished gradients, and "
            "has to come before the optimiser's step.",
            step(order=without("clip")),
        ),
        Mistake(
            "clipped_by_the_largest_entry",
            "The gradients are clipped by their largest entry, not by their norm.",
            "Leave norm_type as it is: 2 stands for the usual norm.",
            step(clipper=clipping.by_largest),
        ),
        Mistake(
            "clipped_by_value",
            "Each entry of the gradient is clipped on its own, which changes its direction.",
            "Clip by norm: all gradients are scaled by the same number, so their direction stays.",
            step(clipper=clipping.by_value),
        ),
        Mistake(
            "clipped_each_alone",
            "Each parameter's gradient is clipped on its own.",
            "Use one norm, over the gradients of all parameters together.",
            step(clipper=clipping.each_alone),
        ),
        Mistake(
            "clipped_by_groups",
            "Each of the optimiser's groups of parameters is clipped on its own.",
            "Use one norm, over the gradients of all parameters together: the model has them all.",
            step(clipper=clipping.each_group),
        ),
        Mistake(
            "clipped_in_the_first_group",
            "Only the first of the optimiser's groups of parameters is clipped.",
            "An optimiser may have several groups; the model has all parameters.",
            step(clipper=clipping.first_group),
        ),
        Mistake(
            "norm_without_its_root",
            "The gradients are clipped by the sum of their squares, which is the square of their "
            "norm.",
            "The norm is the root of that sum.",
            step(clipper=clipping.by_the_square),
        ),
        Mistake(
            "absolute_values_added",
            "The gradients are clipped by the sum of their absolute values, which is more than "
            "their norm.",
            "The usual norm is the root of the sum of squares: clip_grad_norm_ uses it by default.",
            step(clipper=clipping.by_absolute_values),
        ),
        Mistake(
            "norms_added",
            "The norms of the single parameters are added, which is more than the common norm.",
            "Add up the squares of all entries, and take the root of that.",
            step(clipper=clipping.by_the_sum),
        ),
        Mistake(
            "matrices_clipped_alone",
            "Matrices are clipped, but biases are not, and their gradients do not count in the "
            "norm.",
            "All parameters go into clip_grad_norm_, whatever their form.",
            step(clipper=clipping.matrices_alone),
        ),
        Mistake(
            "small_gradients_made_longer",
            "Gradients that are already short come out as long as `clip`: they are stretched, or "
            "the loss is multiplied before backward().",
            "`clip` is a limit, not a target, and backward() belongs to what token_loss gives.",
            step(clipper=clipping.always),
        ),
        Mistake(
            "long_gradients_skipped",
            "Where the gradients are longer than `clip`, the optimiser takes no step at all.",
            "Clipping makes long gradients shorter and keeps their direction. The step is taken "
            "every time.",
            step(order=without("clip"), steps_at=clipping.is_short),
        ),
        Mistake(
            "clip_fixed",
            "The gradients are always clipped to 1, whatever `clip` says.",
            "Pass the argument on.",
            step(clipper=lambda groups, clip: clipping.by_norm(groups, 1.0)),
        ),
        Mistake(
            "optimizer_not_stepped",
            "The parameters never change.",
            "Gradients are there: something has to take a step with them.",
            step(order=without("step")),
        ),
        Mistake(
            "scheduler_not_stepped",
            "The learning rate never changes.",
            "The scheduler counts a step only when it is told to.",
            step(order=without("schedule")),
        ),
        Mistake(
            "loss_told_to_the_scheduler",
            "Something is passed to the scheduler's step(), which takes nothing.",
            "It counts steps, and needs no loss for that.",
            step(tells_scheduler=True),
        ),
        Mistake(
            "scheduler_first",
            "The scheduler comes before the optimiser, so the first learning rate is skipped.",
            "First take the step, then set the rate for the next one.",
            step(order=("zero", "forward", "backward", "clip", "schedule", "step")),
        ),
        Mistake(
            "returns_a_tensor",
            "The loss is returned as a tensor, which keeps the whole graph in memory.",
            "`.item()` turns it into a plain number.",
            step(gives=lambda loss, again: loss),
        ),
        Mistake(
            "loss_after_the_step",
            "The loss was computed again, after the step.",
            "Return the loss that the gradients came from; it costs nothing.",
            step(gives=lambda loss, again: again().item()),
        ),
        Mistake(
            "padding_counted",
            "Padding counts in the loss.",
            "Use your token_loss.",
            step(loss_of=variants.padding_in_the_mean),
        ),
        Mistake(
            "lengths_for_features",
            "The model is given the lengths after the ids, and reads them as features.",
            "The tagger's second argument is `features`; it needs no lengths to find the padding.",
            step(with_lengths=True),
        ),
        Mistake(
            "lengths_for_tags",
            "The lengths are used as the tags.",
            "collate gives (ids, lengths, tags), in this order.",
            step(tags_at=1),
        ),
        Mistake(
            "padding_as_tag_zero",
            "At padding the model is asked for tag 0.",
            "Use your token_loss.",
            step(loss_of=variants.padding_as_tag_zero),
        ),
        Mistake(
            "loss_of_the_sum",
            "The losses of the words are summed: gradients and loss grow with the batch.",
            "Use your token_loss as it is: a mean.",
            step(loss_of=variants.sum_over_words),
        ),
        *(
            Mistake(
                f"gradients_times_{name}",
                "The loss that is returned is the mean, but the one that is differentiated is "
                "many times as large: gradients grow with the batch.",
                "backward() belongs to what your token_loss gives, a mean.",
                step(differentiated=differentiated),
            )
            for name, differentiated in variants.TOO_LARGE.items()
        ),
        *(
            Mistake(
                f"gradients_over_{name}",
                "The loss that is returned is the mean, but the one that is differentiated is "
                f"divided once more, by the number of {name}: the gradients are too small.",
                "backward() belongs to what your token_loss gives: it is a mean already.",
                step(differentiated=differentiated),
            )
            for name, differentiated in variants.TOO_SMALL.items()
        ),
        Mistake(
            "optimizer_steps_twice",
            "The optimiser takes two steps with the same gradients.",
            "One call of train_step is one step.",
            step(order=("zero", "forward", "backward", "clip", "step", "step", "schedule")),
        ),
        Mistake(
            "scheduler_steps_twice",
            "The scheduler counts two steps for one.",
            "One call of train_step is one step.",
            step(order=(*variants.ORDER, "schedule")),
        ),
        Mistake(
            "softmax_twice",
            "Softmax is applied before a loss that applies it again.",
            "token_loss expects plain logits.",
            step(loss_of=lambda logits, tags: reference_token_loss(logits.softmax(-1), tags)),
        ),
        Mistake(
            "autocast_everywhere",
            "Precision is halved on the CPU too, where it costs accuracy and saves no time.",
            "autocast has an argument `enabled`; ask for the type of the device.",
            step(autocast="everywhere"),
        ),
        Mistake(
            "no_autocast_on_the_gpu",
            "On a GPU there is no autocast.",
            "torch.autocast(device.type, ...) around the forward pass and the loss.",
            step(autocast="nowhere"),
        ),
        Mistake(
            "loss_without_autocast",
            "On a GPU the loss is worked out after autocast has ended, from logits in bfloat16.",
            "The loss belongs inside the `with` block too: autocast turns to float32 for it.",
            step(halves_loss=False),
        ),
        Mistake(
            "backward_under_autocast",
            "On a GPU the gradients are worked out under autocast.",
            "End the `with` block after the loss: backward uses the precision of the forward pass "
            "by itself.",
            step(halves_backward=True),
        ),
        Mistake(
            "float16_on_the_gpu",
            "autocast runs in float16, in which small gradients vanish unless the loss is scaled.",
            "Say dtype=torch.bfloat16.",
            step(dtype=torch.float16),
        ),
        Mistake(
            "batch_not_moved",
            "The batch stays on the CPU.",
            "Words and tags have to be where the model is: .to(device).",
            step(moves="nothing"),
        ),
        Mistake(
            "tags_not_moved",
            "The words go to the device, but the tags stay behind.",
            "The loss needs both in one place.",
            step(moves="words"),
        ),
    ),
    tolerance=1e-4,
)

EXERCISES = by_id(STEP)
