"""The layer to repair, which lacks a residual: the right answer."""

from typing import Any

from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.reference import TorchLayer


def _repaired(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """Run torch's layer on the parts of another one."""
    sizes = layer.feed_forward.linear_1
    own = TorchLayer(sizes.in_features, layer.self_attention.n_heads, sizes.out_features, 0.0)
    for name in ("self_attention", "feed_forward", "norm_1", "norm_2"):
        setattr(own, name, getattr(layer, name))
    output: Tensor = own(x, mask)
    return output


EXERCISES = by_id(Exercise(PROBES["repaired_layer"], _repaired))
