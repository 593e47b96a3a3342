"""What this machine offers the course, in a few lines."""

import platform
from typing import Literal

import torch

Device = Literal["cuda", "mps", "cpu"]


def best_device() -> Device:
    """Return the fastest device that torch can use here."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def report() -> str:
    """Return versions, device and threads, one per line."""
    import matplotlib  # noqa: PLC0415 (training alone does not need it)

    names = {"cuda": "NVIDIA GPU", "mps": "Apple GPU", "cpu": "CPU only (enough for all lessons)"}
    device = best_device()
    found = torch.cuda.get_device_name() if device == "cuda" else names[device]
    lines = {
        "Python": platform.python_version(),
        "torch": torch.__version__,
        "matplotlib": matplotlib.__version__,
        "device": found,
        "CPU threads": str(torch.get_num_threads()),
    }
    return "\n".join(f"{name:12} {value}" for name, value in lines.items())
