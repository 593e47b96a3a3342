"""See where an encoder looks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


def self_attentions(model: nn.Module) -> list[Any]:
    """Return the parts called `self_attention`, each once, whatever other names they have."""
    found = (getattr(part, "self_attention", None) for part in model.modules())
    return list({id(part): part for part in found if isinstance(part, nn.Module)}.values())


@contextmanager
def attention_of(model: nn.Module) -> Iterator[list[Tensor]]:
    """Collect the weights (B, H, T, S) of every self-attention that runs inside `with`.

    The list gets one tensor for each layer and run, in order, from modules named `self_attention`.
    """
    seen: list[Tensor] = []

    def note(_module: nn.Module, _inputs: Any, result: tuple[Tensor, Tensor]) -> None:
        seen.append(result[1].detach())

    hooks = [part.register_forward_hook(note) for part in self_attentions(model)]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()
