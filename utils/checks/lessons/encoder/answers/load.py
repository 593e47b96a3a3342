"""Weights from torch's encoder: the right answer; the known mistakes are patches of it."""

from typing import Any

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.probes.weights import torch_names
from utils.reference import modules


def load_oracle(encoder: Any, torch_encoder: Any) -> None:
    """Load torch's weights by name, as from a file, once the depths are compared.

    Raises:
        ValueError: the two have different numbers of layers.

    """
    if len(encoder.layers) != len(torch_encoder.layers):
        raise ValueError("different numbers of layers")
    for layer, theirs in zip(encoder.layers, torch_encoder.layers, strict=True):
        layer.load_state_dict(_ours(dict(theirs.named_parameters())))
    if torch_encoder.norm is not None:
        encoder.final_norm.load_state_dict(torch_encoder.norm.state_dict())


def _ours(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename torch's tensors by looking up where torch_names puts each of ours."""
    names = [name for name, _ in modules.EncoderLayer(2, 1, 2).named_parameters()]
    marks = {name: torch.tensor([float(n)]) for n, name in enumerate(names)}
    found = {}
    for torch_name, places in torch_names(marks).items():
        for place, part in zip(places, theirs[torch_name].chunk(len(places)), strict=True):
            found[names[int(place)]] = part
    return found


EXERCISES = by_id(Exercise(PROBES["load_torch_encoder"], load_oracle))
