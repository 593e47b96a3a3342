"""What the layers of lesson 04 do with dropout, whatever numbers are drawn."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.dropping import factor_of, facts_of_dropping
from utils.checks.observe.torch_state import seeded

SMALL = 1e-3  # of a factor: what rounding may do
TOGETHER = ("the same entries in all sentences", "whole columns", "whole words")


def see_dropout(
    module: nn.Module, x: Tensor, rate: float, forward: Callable[[Tensor], Any]
) -> dict[str, object]:
    """Describe what dropout does to the sum of words and positions."""
    module.eval()
    calm, again = forward(x.clone()), forward(x.clone())
    module.train()
    with seeded(0):
        train = forward(x)
    kept, agree = train != 0, torch.equal(calm, again)
    # The sinusoids of position 0 are zeros by themselves: there, dropped words are enough.
    behind = kept[:, 1:]
    return {
        "two calls in eval mode agree": agree,
        **({"output in eval mode": calm.detach()} if agree else {}),
        "eval mode sets entries of the sum to 0": bool((calm == 0).any()),
        "train mode differs from eval mode": not torch.allclose(train, calm),
        "train mode sets entries of the sum to 0": not bool(kept.all()),
        "train mode does so behind position 0": not bool(behind.all()),
        "what the others are multiplied by": factor_of(train[kept], calm[kept], SMALL),
        **facts_of_dropping(~behind, behind, rate, TOGETHER),
    }
