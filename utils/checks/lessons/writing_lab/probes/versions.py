"""Right and broken language models on which the student's own test is tried."""

from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from utils.checks.authoring.tried_sizes import require_small
from utils.checks.observe.substitution import borrowed
from utils.checks.observe.torch_state import seeded

Model = Callable[[Tensor], Tensor]
Version = Callable[[Any, Tensor], Tensor]
LETTERS = 10  # ids 0 to 9
MOST_LETTERS = 48  # of a text
_SIZES = (LETTERS, 8, 2, 2, 12, MOST_LETTERS, 0.0)  # D, H, N, Dff, and no dropout


@cache
def _parts(dtype: torch.dtype) -> Any:
    """Make a small encoder and its last layer, once; none is in the process of students' code."""
    with seeded(7):
        encoder = borrowed("utils.reference.encoder.stack.TransformerEncoder")(*_SIZES)
        encoder.to_logits = nn.Linear(_SIZES[1], LETTERS)
    return encoder.to(dtype).eval()


def _all(x: Tensor) -> Tensor:
    return torch.ones(1, x.shape[1], x.shape[1], dtype=torch.bool)


def _right(encoder: Any, ids: Tensor) -> Tensor:
    return _masked(encoder, encoder.embed(ids), Tensor.tril)


def _masked(encoder: Any, x: Tensor, part: Callable[[Tensor], Tensor]) -> Tensor:
    logits: Tensor = encoder.to_logits(encoder.encode(x, part(_all(x))))
    return logits


def _first_layer_alone(encoder: Any, ids: Tensor) -> Tensor:
    first, *others = encoder.layers
    x = encoder.embed(ids)
    x = first(x, _all(x).tril())
    for layer in others:
        x = layer(x)
    logits: Tensor = encoder.to_logits(x)
    return logits


def _with_mean(axis: int) -> Version:
    def version(encoder: Any, ids: Tensor) -> Tensor:
        x = encoder.embed(ids)
        return _masked(encoder, x + x.mean(axis, keepdim=True), Tensor.tril)

    return version


VERSIONS: dict[str, Version] = {
    "right": _right,
    "right, in float64": _right,
    "no mask": lambda encoder, ids: _masked(encoder, encoder.embed(ids), lambda mask: mask),
    "transposed mask": lambda encoder, ids: _masked(encoder, encoder.embed(ids), Tensor.triu),
    "one too far": lambda encoder, ids: _masked(encoder, encoder.embed(ids), lambda m: m.tril(1)),
    "only the first layer masked": _first_layer_alone,
    "mean of the whole text": _with_mean(1),
    "mean over the batch": _with_mean(0),
}


_MADE: WeakKeyDictionary[Model, str] = WeakKeyDictionary()


def name_of(model: Model) -> str:
    """Return which version this is: the judging side need not find out by trying."""
    return _MADE[model]


def version(name: str, again: bool = False) -> Model:
    """Return one of the versions, under a name that says nothing about it.

    Args:
        name: its name in the table.
        again: as it is when it comes a second time. Right ones differ in their last digits; so
            must a broken one and itself.

    """
    precise = again or name == "right, in float64"
    encoder, computed = _parts(torch.float64 if precise else torch.float32), VERSIONS[name]

    def model(ids: Tensor) -> Tensor:
        if ids.dtype != torch.int64 or ids.ndim != 2 or not ids.numel():
            raise ValueError("ids are whole numbers, (B, T)")
        require_small([ids.shape])
        if ids.min() < 0 or ids.max() >= LETTERS or ids.shape[1] > MOST_LETTERS:
            raise IndexError(
                f"ids are 0 to {LETTERS - 1} here, at most {MOST_LETTERS} in a row; "
                f"yours: {ids.tolist()}"
            )
        with torch.no_grad():
            return computed(encoder, ids).float()

    _MADE[model] = name
    return model
