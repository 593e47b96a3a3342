"""Torch's global state, which affects all later code: gradients, dtype, device, autocast, modes.

A check resets it to what torch starts with, so that a notebook's own choice decides nothing, and
tells an answer that changes it for other code.
"""

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import _C
from torch.overrides import TorchFunctionMode
from torch.utils._device import DeviceContext


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


def _put_inference_mode(enabled: bool) -> None:
    _GUARDS.append(_C._InferenceMode(enabled))


_GUARDS: list[Any] = []  # a guard that goes takes its inference mode along
_STATES = (
    _State(  # first: it switches gradients, too
        False,
        torch.is_inference_mode_enabled,
        _put_inference_mode,
        "Your code leaves inference mode switched on for all code after it; `with "
        "torch.inference_mode():` switches it off again at its end.",
    ),
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


_MODE = (
    "Your code leaves a mode of torch (one that counts or changes operations) switched on for all "
    "code after it; in a `with` it ends by itself."
)


@contextlib.contextmanager
def usual_torch() -> Iterator[None]:
    """Run with the state that torch starts with, then restore the previous one."""
    before, open_modes = [state.get() for state in _STATES], _modes()
    put_back()
    try:
        yield
    finally:
        for state, value in zip(_STATES, before, strict=True):
            _put(state, value)
        _put_modes(open_modes)


def _modes() -> list[Any]:
    """Return what is open and sees each operation, but for the one of the default device."""
    functions = [_C._get_function_stack_at(n) for n in range(_C._len_torch_function_stack())]
    own = [mode for mode in functions if not isinstance(mode, DeviceContext)]
    return [*own, *(_C._get_dispatch_stack_at(n) for n in range(_C._len_torch_dispatch_stack()))]


def put_back() -> str:
    """Reset torch to the state it starts with; say what had to be changed, or "" if nothing."""
    changed = [state.message for state in _STATES if _put(state, state.usual)]
    if _put_modes([]):
        changed.append(_MODE)
    return changed[0] if changed else ""


def _put_modes(wanted: list[Any]) -> bool:
    if _modes() == wanted:
        return False
    for _ in range(_C._len_torch_dispatch_stack()):
        _C._pop_torch_dispatch_stack(None)
    functions = [_C._pop_torch_function_stack() for _ in range(_C._len_torch_function_stack())]
    devices = [mode for mode in reversed(functions) if isinstance(mode, DeviceContext)]
    for mode in (*devices, *wanted):
        if isinstance(mode, TorchFunctionMode):
            _C._push_on_torch_function_stack(mode)
        else:
            _C._push_on_torch_dispatch_stack(mode)
    return True


def _put(state: _State, value: Any) -> bool:
    if state.get() == value:
        return False
    state.put(value)
    return True


def random_states() -> tuple[Any, ...]:
    """Return where torch, Python and numpy are in the random numbers that they draw."""
    return torch.get_rng_state(), random.getstate(), np.random.get_state()


def put_random_states(states: tuple[Any, ...]) -> None:
    """Let the same random numbers be drawn again."""
    of_torch, of_python, of_numpy = states
    torch.set_rng_state(of_torch)
    random.setstate(of_python)
    np.random.set_state(of_numpy)


def have_drawn(before: tuple[Any, ...]) -> bool:
    """Return whether random numbers have been drawn since then."""
    of_torch, of_python, (_, keys, place, *_rest) = random_states()
    return (
        place != before[2][2]
        or not torch.equal(before[0], of_torch)
        or of_python != before[1]
        or not np.array_equal(keys, before[2][1])
    )


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
