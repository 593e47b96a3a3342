"""Weights from torch's encoder: what is right and commonly wrong."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from utils import blocks
from utils.checks.encoder.probes import PROBES
from utils.checks.encoder.weights import torch_names
from utils.checks.exercise import Exercise, Mistake

_PROBES = {probe.exercise: probe for probe in PROBES}


def _loader(
    rename: Callable[[dict[str, Tensor]], dict[str, Tensor]] = dict,
    *,
    shares: bool = False,
    checks_depth: bool = True,
    final: bool = True,
    most: int = 99,
    skips: str = "nothing",
) -> Any:
    """A load_torch_encoder that mixes names up, or forgets something."""

    def load(encoder: Any, torch_encoder: Any) -> None:
        if checks_depth and len(encoder.layers) != len(torch_encoder.layers):
            raise ValueError("different numbers of layers")
        pairs = list(zip(encoder.layers, torch_encoder.layers, strict=False))[:most]
        for layer, torch_layer in pairs:
            theirs = rename(dict(torch_layer.named_parameters()))
            for name, tensor in _ours(theirs).items():
                if skips not in name:
                    _set(layer.get_parameter(name), tensor, shares)
        if final and torch_encoder.norm is not None:
            encoder.final_norm.load_state_dict(torch_encoder.norm.state_dict())

    return load


def _ours(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename torch's tensors by looking where torch_names puts each of ours."""
    names = [name for name, _ in blocks.EncoderLayer(2, 1, 2).named_parameters()]
    marks = {name: torch.tensor([float(n)]) for n, name in enumerate(names)}
    found = {}
    for torch_name, places in torch_names(marks).items():
        for place, part in zip(places, theirs[torch_name].chunk(len(places)), strict=True):
            found[names[int(place)]] = part
    return found


def _set(parameter: nn.Parameter, tensor: Tensor, shares: bool) -> None:
    if shares:
        parameter.data = tensor.data
    else:
        with torch.no_grad():
            parameter.copy_(tensor)


def _reorder(order: tuple[int, int, int]) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    def rename(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
        stacked = {n: t.chunk(3) for n, t in theirs.items() if "in_proj" in n}
        return theirs | {n: torch.cat([t[i] for i in order]) for n, t in stacked.items()}

    return rename


def _swap_norms(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    other = {"norm1": "norm2", "norm2": "norm1"}
    names = {n: n.split(".")[0] for n in theirs}
    return {n: theirs[n.replace(p, other[p]) if p in other else n] for n, p in names.items()}


def _transpose(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    changed = dict(theirs)
    changed["self_attn.out_proj.weight"] = theirs["self_attn.out_proj.weight"].T
    parts = theirs["self_attn.in_proj_weight"].chunk(3)
    return changed | {"self_attn.in_proj_weight": torch.cat([part.T for part in parts])}


def _then(change: Callable[[Any], object]) -> Any:
    """A right load_torch_encoder that does something more to the encoder."""

    def load(encoder: Any, torch_encoder: Any) -> None:
        _loader()(encoder, torch_encoder)
        change(encoder)

    return load


LOADING = (
    Exercise(
        _PROBES["load_torch_encoder"],
        _loader(),
        (
            Mistake(
                "weights_shared",
                "Both encoders now hold the same tensors: training one would change the other.",
                "Copy the numbers into your parameters (copy_), inside torch.no_grad().",
                _loader(shares=True),
            ),
            Mistake(
                "queries_and_keys_swapped",
                "Queries and keys have changed places.",
                "torch stacks them in the order q, k, v.",
                _loader(_reorder((1, 0, 2))),
            ),
            Mistake(
                "keys_and_values_swapped",
                "Keys and values have changed places.",
                "torch stacks them in the order q, k, v.",
                _loader(_reorder((0, 2, 1))),
            ),
            Mistake(
                "transposed",
                "The attention's matrices are transposed.",
                "nn.Linear and torch's attention both store (out, in).",
                _loader(_transpose),
            ),
            Mistake(
                "norms_swapped",
                "norm_1 got the weights of norm2, and norm_2 those of norm1.",
                "Both are numbered in the order in which x meets them.",
                _loader(_swap_norms),
            ),
            Mistake(
                "biases_forgotten",
                "The biases kept their old values.",
                "in_proj_bias, out_proj.bias, linear1.bias ...: each weight has one.",
                _loader(skips="bias"),
            ),
            Mistake(
                "output_projection_forgotten",
                "The attention's output projection kept its old values.",
                "torch calls it out_proj.",
                _loader(skips="w_o"),
            ),
            Mistake(
                "feed_forward_forgotten",
                "The feed-forward kept its old values.",
                "torch has linear1 and linear2 in the layer itself.",
                _loader(skips="feed_forward"),
            ),
            Mistake(
                "norms_forgotten",
                "The norms kept their old values.",
                "Their gain and bias are learned, so they have to be copied too.",
                _loader(skips="norm"),
            ),
            Mistake(
                "first_layer_only",
                "Only the first layer was loaded.",
                "Go through both lists of layers side by side.",
                _loader(most=1),
            ),
            Mistake(
                "final_norm_forgotten",
                "With norm_first, torch's encoder has a last norm, which was not copied.",
                "torch_encoder.norm is None in post-norm, and a LayerNorm in pre-norm.",
                _loader(final=False),
            ),
            Mistake(
                "frozen",
                "After loading, the parameters cannot be trained any more.",
                "Under torch.no_grad() a parameter can be written without freezing it.",
                _then(lambda encoder: encoder.requires_grad_(False)),
            ),
            Mistake(
                "left_in_eval_mode",
                "After loading, the encoder is in another mode than before.",
                "Only weights are copied: what is done to the mode, its caller decides.",
                _then(lambda encoder: encoder.eval()),
            ),
            Mistake(
                "embedding_overwritten",
                "The embedding has other numbers than before; torch's encoder has none to give.",
                "Only the layers and final_norm are loaded.",
                _then(lambda encoder: nn.init.zeros_(encoder.embedding.weight)),
            ),
            Mistake(
                "depths_not_compared",
                "An encoder with another number of layers is loaded in part and in silence.",
                "zip stops at the shorter list unless it is strict.",
                _loader(checks_depth=False),
            ),
        ),
    ),
)
