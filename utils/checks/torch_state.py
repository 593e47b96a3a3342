"""What torch remembers for all code that runs later: gradients, number format, device, autocast.

A check puts all of it to what torch starts with, so that a notebook's own choice decides nothing,
and an answer that changes it for others is told so.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class _State:
    """One of them.

    Attributes:
        usual: what it is when torch starts.
        get: what it is now.
        put: changes it.
        says: what an answer did that left it changed.

    """

    usual: Any
    get: Callable[[], Any]
    put: Callable[[Any], object]
    says: str


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
        torch.get_default_device,
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
    """Run with what torch starts with; afterwards all is as it was before."""
    before = [state.get() for state in _STATES]
    put_back()
    try:
        yield
    finally:
        for state, value in zip(_STATES, before, strict=True):
            _put(state, value)


def put_back() -> str:
    """Put all to what torch starts with; say what had to be changed, "" if nothing."""
    changed = [state for state in _STATES if _put(state, state.usual)]
    return changed[0].says if changed else ""


def _put(state: _State, value: Any) -> bool:
    if state.get() == value:
        return False
    state.put(value)
    return True
