"""Run all measurements or the named ones, print and save them: `python -m bench [NAME...]`.

Results go to bench/results/NAME.json, with machine, versions and date. What follows the name `gpu`
are its own parts and options: see bench/gpu.py. Without names it runs too where there is a GPU.
"""

import json
import platform
import sys
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

NAMES = (
    "checks", "cluster", "grading", "norm_order", "pages", "positions", "reversal", "train_speed",
)  # fmt: skip
LONG = ("hub", "semester", "tagging_speed")  # run when they are named
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


def main(names: list[str]) -> None:
    """Run the measurements and save their results."""
    others = names[: names.index("gpu")] if "gpu" in names else names or NAMES
    if unknown := [name for name in others if name not in (*NAMES, *LONG)]:
        known = ", ".join((*NAMES, *LONG, "gpu"))
        sys.exit(f"There is no measurement {', '.join(unknown)}. There are: {known}.")
    for name in others:
        keep(name, import_module(f"bench.{name}").measure())
    if "gpu" in names or (not names and import_module("torch").cuda.is_available()):
        import_module("bench.gpu").main(names[len(others) + 1 :] if names else [])


if __name__ == "__main__":
    main(sys.argv[1:])
