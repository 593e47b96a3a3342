"""See where an encoder looks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


@contextmanager
def attention_of(model: nn.Module) -> Iterator[list[Tensor]]:
    """Collect the weights (B, H, T, S) of every self-attention that runs inside `with`.

    The list gets one tensor for each layer and run, in order, from modules named `self_attention`.
    """
    seen: list[Tensor] = []

    def note(_module: nn.Module, _inputs: Any, result: tuple[Tensor, Tensor]) -> None:
        seen.append(result[1].detach())

    found = [m for name, m in model.named_modules() if name.endswith("self_attention")]
    hooks = [module.register_forward_hook(note) for module in found]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()
