"""Facts that judge a stack of layers by what its layers compute, where no student code runs."""

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from utils.checks.exercise import Inputs
from utils.checks.lessons.encoder.probes.building import CHANGED
from utils.checks.observation import Array, Plain

TOLERANCE = 1e-4
MOST_LAYERS = 50  # each is held against each: thousands would take minutes


def stack_facts(i: Inputs, values: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return how many layers and parameters there are, and how many one layer's training changes.

    A layer counts if it computes what one that was made does. All but the first may also have been
    given new weights.

    Raises:
        ValueError: the values are not those of a stack.

    """
    outputs, parameters = _arrays(values["outputs"]), _arrays(values["parameters"])
    if len(outputs) > MOST_LAYERS or len(parameters) > 2 * MOST_LAYERS:
        raise ValueError("more layers than anybody asked for")
    made = [_output(i["x"], w, b) for w, b in zip(i["weights"], i["biases"], strict=True)]
    own = [_output(i["x"], w, b) for w, b in zip(parameters[::2], parameters[1::2], strict=False)]
    known = [made, *([*made, *own] for _ in outputs[1:])]
    right = [_is_among(output, some) for output, some in zip(outputs, known, strict=False)]
    return {
        "layers": sum(right),
        "separate layers": values["separate layers"],
        "parameters": sum(array.size for array in parameters),
        CHANGED: values[CHANGED],
    }


def _arrays(value: Plain) -> list[Array]:
    if not isinstance(value, list):
        raise ValueError("no list of tensors")
    found = [item for item in value if isinstance(item, np.ndarray)]
    if len(found) < len(value):
        raise ValueError("no list of tensors")
    return found


def _output(x: Tensor, weight: Tensor | Array, bias: Tensor | Array) -> Array:
    weight, bias = np.asarray(weight), np.asarray(bias)
    if weight.ndim != 2 or bias.shape != weight.shape[:1] or x.shape[1] != weight.shape[1]:
        raise ValueError("no parameters of a linear layer")
    found: Array = x.numpy() @ weight.T + bias
    return found


def _is_among(output: Array, some: Sequence[Array]) -> bool:
    same = [one for one in some if one.shape == output.shape]
    return any(np.allclose(output, one, rtol=TOLERANCE, atol=TOLERANCE) for one in same)
