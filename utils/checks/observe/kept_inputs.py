"""Draw a case's inputs once and hand out copies: an answer and each known mistake get the same.

Only plain inputs are kept, whose copies nobody can tell from inputs that are made anew. Not for
processes in which a case's inputs must not be found before or after its turn.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

from utils.checks.exercise import Inputs, Probe
from utils.checks.variation import current_variation

_MOST_KEPT = 500  # cases of a probe
_MOST_ENTRIES = 100_000  # of all tensors of a case
_UNCHANGING = (bool, int, float, str, type(None))


def keeping(probe: Probe) -> Probe:
    """Return a probe that makes a case's inputs once."""
    return replace(probe, inputs=_kept(probe.inputs))


@cache
def _kept(make: Callable[..., Inputs]) -> Callable[..., Inputs]:
    """Return a function that makes inputs and keeps them, if they depend on parameters alone."""
    known: dict[str, Inputs | None] = {}

    def made_or_kept(**params: Any) -> Inputs:
        words = repr(sorted(params.items()))
        key = f"{current_variation()} {torch.get_default_dtype()} {words}"
        if key in known:
            kept = known[key]
            return make(**params) if kept is None else _copy(kept)
        if len(known) >= _MOST_KEPT:
            known.clear()
        before = torch.get_rng_state()
        inputs = make(**params)
        is_kept = torch.equal(before, torch.get_rng_state()) and _may_be_kept(inputs)
        known[key] = _copy(inputs) if is_kept else None
        return inputs

    return made_or_kept


def _may_be_kept(inputs: Inputs) -> bool:
    """Return whether copies of inputs are as the inputs: nothing shares memory or is a view."""
    parts = list(_parts(inputs))
    tensors = [part for part in parts if isinstance(part, Tensor)]
    if not all(map(_is_whole, tensors)):
        return False
    changing = [id(part) for part in parts if isinstance(part, (list, dict))]
    places = [tensor.data_ptr() for tensor in tensors if tensor.numel()]
    return (
        all(type(part) in (Tensor, list, dict, tuple, *_UNCHANGING) for part in parts)
        and len({*map(id, tensors)}) == len(tensors)
        and len({*places}) == len(places)
        and len({*changing}) == len(changing)
        and sum(tensor.numel() for tensor in tensors) <= _MOST_ENTRIES
    )


def _parts(value: object) -> Iterator[object]:
    yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _parts(item)


def _is_whole(tensor: Tensor) -> bool:
    """Return whether a tensor is all that is in its memory, on the CPU, in the usual order."""
    if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.requires_grad:
        return False
    usual = tensor.clone(memory_format=torch.contiguous_format)
    nothing_else = tensor.untyped_storage().nbytes() == usual.untyped_storage().nbytes()
    return nothing_else and tensor.stride() == usual.stride()


def _copy(inputs: Inputs) -> Inputs:
    return {name: _copied(value) for name, value in inputs.items()}


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is Tensor:
        return value.clone()
    if kind is dict:
        return {key: _copied(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return kind(map(_copied, value))
    return value
