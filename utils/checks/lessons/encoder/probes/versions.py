"""Right and broken encoders on which the student's own test of padding is tried."""

from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from utils.checks.authoring.tried_sizes import require_small
from utils.checks.observe.substitution import borrowed
from utils.checks.observe.torch_state import seeded

Encode = Callable[[Tensor], Tensor]
Version = Callable[[Any, Tensor], Tensor]
WORDS = 10  # ids 1 to 9 are words, 0 is padding
MOST_WORDS = 64  # in a sentence
_SIZES = (WORDS, 8, 2, 2, 12, MOST_WORDS, 0.0)  # D, H, N, Dff, and no dropout


@cache
def _encoder() -> Any:
    """Make a small encoder, once; none is in the process of students' code."""
    with seeded(5):
        return borrowed("utils.reference.encoder.stack.TransformerEncoder")(*_SIZES).eval()


def _real(ids: Tensor) -> Tensor:
    return (ids != 0).unsqueeze(1)


def _right(encoder: Any, ids: Tensor) -> Tensor:
    encoded: Tensor = encoder.encode(encoder.embed(ids), _real(ids))
    return encoded


def _attending_padding(encoder: Any, ids: Tensor) -> Tensor:
    encoded: Tensor = encoder.encode(encoder.embed(ids))
    return encoded


def _first_layer_alone(encoder: Any, ids: Tensor) -> Tensor:
    first, *others = encoder.layers
    x: Tensor = first(encoder.embed(ids), _real(ids))
    for layer in others:
        x = layer(x)
    return x


def _first_sentence_for_all(encoder: Any, ids: Tensor) -> Tensor:
    encoded: Tensor = encoder.encode(encoder.embed(ids), _real(ids[:1]))
    return encoded


def _counted_from_the_end(encoder: Any, ids: Tensor) -> Tensor:
    x = encoder.positions(encoder.embedding(ids).flip(1)).flip(1)
    encoded: Tensor = encoder.encode(x, _real(ids))
    return encoded


def _other_at_padding(version: Version) -> Version:
    """Return a version with other vectors at padding, where nobody reads them: the width."""
    return lambda encoder, ids: version(encoder, ids).where(_real(ids).mT, float(ids.shape[1]))


VERSIONS: dict[str, Version] = {
    "right": _right,
    "right, another at padding": _other_at_padding(_right),
    "padding attended to": _attending_padding,
    "only the first layer masked": _first_layer_alone,
    "the first sentence's mask": _first_sentence_for_all,
    "counted from the end": _counted_from_the_end,
}


_MADE: WeakKeyDictionary[Encode, str] = WeakKeyDictionary()


def name_of(encode: Encode) -> str:
    """Return which version this is: the judging side need not find out by trying."""
    return _MADE[encode]


def version(name: str, again: bool = False) -> Encode:
    """Return one of the versions, under a name that says nothing about it.

    Args:
        name: its name in the table.
        again: as it is when it comes a second time. Right ones differ at padding; so must a broken
            one and itself.

    """
    encoder, encodes = _encoder(), _other_at_padding(VERSIONS[name]) if again else VERSIONS[name]

    def encode(ids: Tensor) -> Tensor:
        if ids.dtype != torch.int64 or ids.ndim != 2 or not ids.numel():
            raise ValueError("ids are whole numbers, (B, T)")
        require_small([ids.shape])
        if ids.min() < 0 or ids.max() >= WORDS:
            most = WORDS - 1
            raise IndexError(
                f"words have the ids 1 to {most} here, padding has 0; yours: {ids.tolist()}"
            )
        with torch.no_grad():
            return encodes(encoder, ids)

    _MADE[encode] = name
    return encode
