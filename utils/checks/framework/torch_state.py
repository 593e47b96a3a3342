"""Torch's global state, which affects all later code: gradients, dtype, device, autocast.

A check resets it to what torch starts with, so that a notebook's own choice decides nothing, and
tells an answer that changes it for other code.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class _State:
    """One part of this state.

    Attributes:
        usual: its value when torch starts.
        get: returns its current value.
        put: changes it.
        message: what an answer did to leave it changed.

    """

    usual: Any
    get: Callable[[], Any]
    put: Callable[[Any], object]
    message: str


def _put_device(device: torch.device) -> None:
    torch.set_default_device(None if device.type == "cpu" else device)


_STATES = (
    _State(
        True,
        torch.is_grad_enabled,
        torch.set_grad_enabled,
        "Your code leaves gradients switched off for all code after it; `with torch.no_grad():` "
        "switches them on again at its end.",
    ),
    _State(
        torch.float32,
        torch.get_default_dtype,
        torch.set_default_dtype,
        "Your code changes torch's default dtype for all code after it; give `dtype=` where you "
        "need it.",
    ),
    _State(
        torch.device("cpu"),
        lambda: torch.empty(0).device,  # ten times as fast as torch.get_default_device
        _put_device,
        "Your code changes torch's default device for all code after it; give `device=` where you "
        "need it.",
    ),
    _State(
        False,
        lambda: torch.is_autocast_enabled("cpu"),
        lambda enabled: torch.set_autocast_enabled("cpu", enabled),
        "Your code leaves autocast switched on for all code after it; `with torch.autocast(...):` "
        "switches it off again at its end.",
    ),
)


@contextlib.contextmanager
def usual_torch() -> Iterator[None]:
    """Run with the state that torch starts with, then restore the previous one."""
    before = [state.get() for state in _STATES]
    put_back()
    try:
        yield
    finally:
        for state, value in zip(_STATES, before, strict=True):
            _put(state, value)


def put_back() -> str:
    """Reset torch to the state it starts with; say what had to be changed, or "" if nothing."""
    changed = [state for state in _STATES if _put(state, state.usual)]
    return changed[0].message if changed else ""


def _put(state: _State, value: Any) -> bool:
    if state.get() == value:
        return False
    state.put(value)
    return True


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw on the CPU from this seed, then go on as if nothing had been drawn.

    torch.manual_seed would do, but without accelerators it writes down a stack trace for each kind
    of them, which takes a hundred times as long.
    """
    before = torch.get_rng_state()
    torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(before)
