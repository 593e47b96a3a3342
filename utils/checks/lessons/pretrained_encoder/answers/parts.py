"""An encoder that becomes a BERT and gets a BERT's weights: right answers."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.pretrained_encoder.probes import PROBES
from utils.reference.encoder.bert import as_bert

# Where a parameter's numbers lie in the file, by its path: the last word that is found counts.
_HOMES = {
    "w_q": "attention.self.query",
    "w_k": "attention.self.key",
    "w_v": "attention.self.value",
    "w_o": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "linear_1": "intermediate.dense",
    "linear_2": "output.dense",
    "norm_2": "output.LayerNorm",
}


def _load(encoder: Any, tensors: Mapping[str, Tensor]) -> None:
    """Go through the encoder's own parameters and look each up in the file."""
    found = [_looked_up(path, tensors) for path, _ in encoder.named_parameters()]
    with torch.no_grad():
        for parameter, tensor in zip(encoder.parameters(), found, strict=True):
            parameter.copy_(tensor)


def _looked_up(path: str, tensors: Mapping[str, Tensor]) -> Tensor:
    tables = "embeddings.{}_embeddings.weight".format
    if path.startswith("embedding."):
        return tensors[tables("word")]
    if path.startswith("positions.0"):
        return tensors[tables("position")] + tensors[tables("token_type")][:1]
    *_, part, kind = path.split(".")
    if path.startswith("positions.1"):
        return tensors[f"embeddings.LayerNorm.{kind}"]
    return tensors[f"encoder.layer.{path.split('.')[1]}.{_HOMES[part]}.{kind}"]


EXERCISES = by_id(
    Exercise(PROBES["as_bert"], as_bert, tolerance=3e-5), Exercise(PROBES["load_bert"], _load)
)
