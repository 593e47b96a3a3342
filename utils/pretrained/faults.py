"""Encoders with one fault each: copies of a right one, with one thing changed."""

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Change = Callable[[Any, Mapping[str, Tensor]], None]
Choice = Callable[[Tensor], Tensor]  # real tokens -> tokens
SEGMENTS: Final = "embeddings.token_type_embeddings.weight"


class _Network(nn.Module):
    """A feed-forward network with another activation.

    Args:
        right: the network whose linear layers it takes.
        activation: what stands between them.

    """

    def __init__(self, right: Any, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.linear_1, self.linear_2, self.activation = right.linear_1, right.linear_2, activation

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., D) to (..., D)."""
        mapped: Tensor = self.linear_2(self.activation(self.linear_1(x)))
        return mapped


def _activation(of: Callable[[Tensor], Tensor]) -> Change:
    def change(encoder: Any, _: Mapping[str, Tensor]) -> None:
        for layer in encoder.layers:
            layer.feed_forward = _Network(layer.feed_forward, of)

    return change


def _eps(eps: float) -> Change:
    def change(encoder: Any, _: Mapping[str, Tensor]) -> None:
        for part in [encoder.positions, *encoder.layers]:
            for name, child in list(part.named_children()):
                if hasattr(child, "bias") and child.weight.dim() == 1:
                    norm = nn.LayerNorm(len(child.weight), eps)
                    norm.weight, norm.bias = child.weight, child.bias
                    part.add_module(name, norm)

    return change


def _in_attention(change_one: Callable[[Any], None]) -> Change:
    def change(encoder: Any, _: Mapping[str, Tensor]) -> None:
        with torch.no_grad():
            for layer in encoder.layers:
                change_one(layer.self_attention)

    return change


def _unscaled(attention: Any) -> None:
    factor = (attention.w_q.weight.shape[0] / attention.n_heads) ** 0.5
    attention.w_q.weight *= factor
    attention.w_q.bias *= factor


def _swapped(attention: Any) -> None:
    attention.w_q, attention.w_k = attention.w_k, attention.w_q


def _without_segments(encoder: Any, tensors: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        encoder.positions[0].weight -= tensors[SEGMENTS][0]


def _other_segment(encoder: Any, tensors: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        encoder.positions[0].weight += tensors[SEGMENTS][1] - tensors[SEGMENTS][0]


def _off_by_one(encoder: Any, _: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        encoder.positions[0].weight.copy_(encoder.positions[0].weight.roll(-1, 0))


def _factor(encoder: Any, _: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        encoder.embedding.weight *= encoder.embedding.weight.shape[1] ** 0.5


def _no_first_norm(encoder: Any, _: Mapping[str, Tensor]) -> None:
    encoder.positions.add_module("1", nn.Identity())


def _first_layer(encoder: Any, _: Mapping[str, Tensor]) -> None:
    encoder.layers = nn.ModuleList([encoder.layers[0]] * len(encoder.layers))


def _nothing(*_: object) -> None:
    """Change nothing of the encoder."""


def _real(real: Tensor) -> Tensor:
    return real


def _cls(real: Tensor) -> Tensor:
    return (torch.arange(real.shape[1]) == 0).expand_as(real)


# fault -> what it changes, which tokens are attended to, which are averaged
FAULTS: Final[Mapping[str, tuple[Change, Choice, Choice]]] = {
    "bias of the keys missing": (_in_attention(lambda a: a.w_k.bias.zero_()), _real, _real),
    "GELU by tanh": (_activation(lambda x: F.gelu(x, approximate="tanh")), _real, _real),
    "eps 1e-5": (_eps(1e-5), _real, _real),
    "the other segment row": (_other_segment, _real, _real),
    "positions off by one": (_off_by_one, _real, _real),
    "bias of the queries missing": (_in_attention(lambda a: a.w_q.bias.zero_()), _real, _real),
    "scale missing": (_in_attention(_unscaled), _real, _real),
    "factor sqrt(D) left in": (_factor, _real, _real),
    "mask forgotten": (_nothing, torch.ones_like, _real),
    "padding in the mean": (_nothing, _real, torch.ones_like),
    "segment row missing": (_without_segments, _real, _real),
    "ReLU left in": (_activation(F.relu), _real, _real),
    "[CLS] for the mean": (_nothing, _real, _cls),
    "queries and keys swapped": (_in_attention(_swapped), _real, _real),
    "norm of the embeddings missing": (_no_first_norm, _real, _real),
    "first layer in all layers": (_first_layer, _real, _real),
}


def broken(encoder: Any, tensors: Mapping[str, Tensor], change: Change) -> Any:
    """Return a copy of an encoder with one change."""
    changed = copy.deepcopy(encoder)
    change(changed, tensors)
    return changed.eval()
