"""Where, when and with what something was measured, and the file that keeps it."""

import json
import os
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

RESULTS = Path(__file__).resolve().parent / "results"


def about() -> dict[str, object]:
    """Return where, when and with what this was measured."""
    lines = Path("/proc/cpuinfo")
    models = (
        [x for x in lines.read_text().splitlines() if "model name" in x] if lines.exists() else []
    )
    return {
        "date": date.today().isoformat(),
        "processor": models[0].split(":")[1].strip() if models else platform.processor(),
        "cores": len(models),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "nbgrader": installed("nbgrader"),
    }


def installed(package: str) -> str:
    """Return a package's version; some measurements also run on machines without nbgrader."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def keep(name: str, found: dict[str, Any]) -> None:
    """Print and save what a measurement found."""
    RESULTS.mkdir(exist_ok=True)
    print(json.dumps(found, indent=1))
    text = json.dumps(about() | {"results": found}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """Return where a part is measured."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    found = {"GPU": gpu, "CUDA": torch.version.cuda, "threads": torch.get_num_threads()}
    return about() | found | {"load before": round(os.getloadavg()[0], 2)}
