"""`python -m bench [NAME...]`: run all measurements, or the named ones; print them and keep them.

Results go to bench/results/NAME.json, with machine, versions and date.
"""

import json
import platform
import sys
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

NAMES = ("checks", "grading", "train_speed")
RESULTS = Path(__file__).resolve().parent / "results"


def about() -> dict[str, object]:
    """Where and with what this was measured."""
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
    """Its version; what needs no notebooks is also measured on machines without them."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def keep(name: str, found: dict[str, Any]) -> None:
    """Print and write what a measurement found."""
    RESULTS.mkdir(exist_ok=True)
    print(json.dumps(found, indent=1))
    text = json.dumps(about() | {"results": found}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def main(names: list[str]) -> None:
    """Measure and write."""
    for name in names or NAMES:
        keep(name, import_module(f"bench.{name}").measure())


if __name__ == "__main__":
    main(sys.argv[1:])
