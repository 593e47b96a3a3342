"""Train an encoder on pairs of texts, on the CPU or a GPU by one way."""

import contextlib
import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from utils.errors import UserError
from utils.experiments.device import best_device

Pairs = Sequence[tuple[str, str]]
BATCH, RATE, CLIP = 16, 3e-5, 1.0


class PrecisionError(UserError):
    """Numbers of this type are too coarse for a published encoder."""


def before_and_after(
    encoder: Any,
    loss_of: Callable[[Any, Pairs], Tensor],
    kept: Pairs,
    learned: Pairs,
    steps: int = 20,
) -> dict[str, float]:
    """Train a copy of an encoder, and return its loss on kept pairs before and after.

    Weights stay in float32; on a GPU the products are taken in bfloat16.

    Args:
        encoder: left as it is.
        loss_of: (encoder, pairs) -> loss.
        kept: pairs that it does not learn from.
        learned: pairs that it learns from, in batches drawn anew.
        steps: how many batches.

    """
    student = copy.deepcopy(encoder).to(best_device())
    optimizer = torch.optim.AdamW(student.parameters(), RATE)
    random = torch.Generator().manual_seed(0)
    before = examined(student, loss_of, kept)
    torch.manual_seed(0)
    student.train()
    for step in range(steps):
        chosen = torch.randperm(len(learned), generator=random)[:BATCH].tolist()
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / 5)
        with short_numbers(student):
            loss = loss_of(student, [learned[n] for n in chosen])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(student.parameters(), CLIP)
        optimizer.step()
    return {"before": before, "after": examined(student, loss_of, kept)}


@torch.no_grad()
def examined(encoder: Any, loss_of: Callable[[Any, Pairs], Tensor], pairs: Pairs) -> float:
    """Return the loss on some pairs, in eval mode."""
    encoder.eval()
    return float(loss_of(encoder, pairs))


def short_numbers(module: torch.nn.Module) -> contextlib.AbstractContextManager[Any]:
    """Return autocast to bfloat16 where a module is on a GPU, and nothing on the CPU.

    Raises:
        PrecisionError: the module's weights are in float16.

    """
    if any(p.dtype is torch.float16 for p in module.parameters()):
        raise PrecisionError(
            "The weights are in float16, where BERT's eps of 1e-12 is 0: a token of equal entries "
            "would give 0 / 0. Keep them in float32 (`.float()`); on a GPU the products are "
            "taken in bfloat16 anyway."
        )
    on_gpu = next(module.parameters()).is_cuda
    return torch.autocast("cuda", torch.bfloat16) if on_gpu else contextlib.nullcontext()
