"""Weights of encoder layers, under the names that the course and torch use."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from utils.checks.exercise import Inputs
from utils.checks.lessons.inputs import Draw


def layer_weights(draw: Draw, d_model: int, d_ff: int, prefix: str = "") -> dict[str, Tensor]:
    """Draw all parameters of one encoder layer, named after its parts."""
    drawn: dict[str, Tensor] = {}
    for name in ("w_q", "w_k", "w_v", "w_o"):
        drawn[f"self_attention.{name}.weight"] = draw.normal(d_model, d_model, scale=0.4)
        drawn[f"self_attention.{name}.bias"] = draw.normal(d_model, scale=0.4)
    drawn["feed_forward.linear_1.weight"] = draw.normal(d_ff, d_model, scale=0.4)
    drawn["feed_forward.linear_1.bias"] = draw.normal(d_ff, scale=0.4)
    drawn["feed_forward.linear_2.weight"] = draw.normal(d_model, d_ff, scale=0.4)
    drawn["feed_forward.linear_2.bias"] = draw.normal(d_model, scale=0.4)
    for name in ("norm_1", "norm_2"):
        drawn[f"{name}.weight"] = 1 + draw.normal(d_model, scale=0.3)
        drawn[f"{name}.bias"] = draw.normal(d_model, scale=0.3)
    return {prefix + name: tensor for name, tensor in drawn.items()}


def stack_weights(
    draw: Draw, d_model: int, d_ff: int, n_layers: int, *, norm_first: bool
) -> dict[str, Tensor]:
    """Draw what a model's `encoder` holds besides its table: layers and, pre-norm, a last norm."""
    drawn: dict[str, Tensor] = {}
    for n in range(n_layers):
        drawn |= layer_weights(draw, d_model, d_ff, f"encoder.layers.{n}.")
    if norm_first:
        norm = layer_weights(draw, d_model, 1)
        names = ("weight", "bias")
        drawn |= {f"encoder.final_norm.{name}": norm[f"norm_1.{name}"] for name in names}
    return drawn


def only_weights(inputs: Inputs) -> dict[str, Tensor]:
    """Return the inputs that are parameters: their names are dotted paths."""
    return {name: tensor for name, tensor in inputs.items() if "." in name}


def by_own_names(encoder: nn.Module, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights under an encoder's names: lesson 04 leaves the embedding's free."""
    tables = [name for name, _ in encoder.get_submodule("embedding").named_parameters()]
    named = {"embedding.weight": f"embedding.{tables[0]}"} if len(tables) == 1 else {}
    return {named.get(name, name): tensor for name, tensor in weights.items()}


def torch_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename one layer's weights for ``nn.TransformerEncoderLayer``."""
    parts = {"feed_forward.linear_1": "linear1", "feed_forward.linear_2": "linear2"}
    parts |= {"self_attention.w_o": "self_attn.out_proj", "norm_1": "norm1", "norm_2": "norm2"}
    named = {}
    for kind in ("weight", "bias"):
        projections = [weights[f"self_attention.{name}.{kind}"] for name in ("w_q", "w_k", "w_v")]
        named[f"self_attn.in_proj_{kind}"] = torch.cat(projections)
        named |= {f"{new}.{kind}": weights[f"{old}.{kind}"] for old, new in parts.items()}
    return named
