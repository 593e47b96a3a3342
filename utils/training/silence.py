"""Switch heads of an encoder off, to see what depends on them."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from utils.training.attention_seen import self_attentions


@contextmanager
def silenced(model: nn.Module, layer: int, heads: Collection[int], n_heads: int) -> Iterator[None]:
    """Inside `with`, some heads add nothing: their part of what goes into w_o is zero.

    Args:
        model: holds modules named `self_attention`, one for each layer, each with a linear `w_o`
            whose input holds the heads side by side, (B, T, H * Dh).
        layer: the layer, from 0.
        heads: the heads, from 0.
        n_heads: H.

    Raises:
        IndexError: there is no such layer or head.

    """
    if unknown := [head for head in heads if not 0 <= head < n_heads]:
        raise IndexError(f"head {unknown[0]} of {n_heads}")

    def without(_module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        x = inputs[0]
        said = x.reshape(*x.shape[:-1], n_heads, -1).clone()  # (B, T, H, Dh)
        said[..., list(heads), :] = 0.0
        return (said.flatten(-2),)

    hook = self_attentions(model)[layer].w_o.register_forward_pre_hook(without)
    try:
        yield
    finally:
        hook.remove()
