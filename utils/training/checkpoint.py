"""Checkpoint files of training runs, which are either complete or not there at all."""

import os
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

State = dict[str, Any]  # tensors, numbers, strings, and lists and dictionaries of them


def save_checkpoint(path: Path, state: State) -> None:
    """Write the state under a temporary name first, so that an interruption leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(".part", f"{path.name}-", path.parent)
    half = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            torch.save(state, file)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def load_checkpoint(path: Path) -> State | None:
    """Read a state onto the CPU; return None if the file is missing or cannot be read."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # corrupt bytes make torch's reader fail in many ways
        return None
    return state if isinstance(state, dict) else None


def random_states(device: torch.device) -> dict[str, Tensor]:
    """Return the states of torch's random generators: the CPU's, and the device's if it has one."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def set_random_states(states: dict[str, Tensor], device: torch.device) -> None:
    """Restore these states of torch's random generators."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
    elif device.type == "mps":
        torch.mps.set_rng_state(states["mps"])
