"""Figures that take too long to measure in a lesson: `python -m bench NAME` recorded them."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"


def recorded(name: str) -> tuple[dict[str, Any], str]:
    """Return what `bench/results/NAME.json` holds, and a line on where and when it was measured."""
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    where = f"recorded on {found['date']}, {found['processor']}, torch {found['torch']}"
    command = found.get("command", f"python -m bench {name}")
    return found["results"], f"{where} ({command})"
