"""The file of figures that `bench.gpu` measures: written after each figure, so that none is lost.

A figure that failed is kept as {"failed": "type: message"}, one that was not measured as a line
"skipped: why". Both are tried again next time; a figure that is known for this machine is not.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from bench.speed.timing import USUAL, Care
from utils.kernel.time_limit import time_limit

OUT_OF_TIME = "skipped: out of time"
SAME = ("GPU", "driver", "CUDA", "torch", "toy")  # where these agree, figures need no second run
BRIEF = Care(rounds=1, warm_ups=1, least_seconds=0.0)

Figures = Iterator[tuple[str, Callable[[], Any]]]
Found = Mapping[str, Any]


class Skipped(Exception):
    """A figure cannot or need not be measured here; the message says why."""


@dataclass(frozen=True)
class Place:
    """Where to measure, and whether only to try everything out.

    Attributes:
        device: where to compute.
        toy: whether sizes are tiny and nothing is timed with care.

    """

    device: torch.device
    toy: bool = False

    @property
    def care(self) -> Care:
        """Return how carefully to time."""
        return BRIEF if self.toy else USUAL


class Record:
    """The parts measured so far, each with its machine and its figures.

    Args:
        path: the file; what is in it is kept.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.parts: dict[str, Any] = known.get("results", {})

    def is_complete(self, part: str, machine: Mapping[str, Any]) -> bool:
        """Return whether nothing of a part is left to measure on this machine."""
        return bool(self._before(part, machine).get("complete"))

    def begin(self, part: str, machine: Mapping[str, Any]) -> dict[str, Any]:
        """Return a part's figures: those known for the same machine, or none."""
        figures: dict[str, Any] = self._before(part, machine).get("figures", {})
        self.parts[part] = {"machine": dict(machine), "figures": figures}
        self.save()
        return figures

    def _before(self, part: str, machine: Mapping[str, Any]) -> dict[str, Any]:
        before: dict[str, Any] = self.parts.get(part, {})
        where = before.get("machine", {})
        return before if all(where.get(key) == machine.get(key) for key in SAME) else {}

    def put(self, part: str, figure: str, value: Any) -> None:
        """Add a figure, print it and save the file."""
        self.parts[part]["figures"][figure] = value
        print(f"{part}: {figure}: {json.dumps(value)}", flush=True)
        self.save()

    def end(self, part: str, failed: str = "") -> None:
        """Add why a part ended early, or whether it is complete."""
        if failed:
            print(f"{part}: {failed}", flush=True)
            self.parts[part]["failed"] = failed
        elif not any(map(can_be_tried_again, self.parts[part]["figures"].values())):
            self.parts[part]["complete"] = True
        self.save()

    def save(self) -> None:
        """Write the file, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        half = self.path.with_suffix(".part")
        half.write_text(json.dumps({"results": self.parts}, indent=1) + "\n", encoding="utf-8")
        half.replace(self.path)


def is_known(value: Any) -> bool:
    """Return whether a figure was measured: it is there, has not failed and was not skipped."""
    skipped = isinstance(value, str) and value.startswith("skipped: ")
    return value is not None and not has_failed(value) and not skipped


def has_failed(value: Any) -> bool:
    """Return whether a figure is the note that it failed."""
    return isinstance(value, dict) and "failed" in value


def can_be_tried_again(value: Any) -> bool:
    """Return whether another call may measure a figure that this one did not."""
    return value == OUT_OF_TIME or has_failed(value)


def measured(figure: Callable[[], Any], end: float) -> Any:
    """Return a figure, why it was skipped, or how it failed.

    Args:
        figure: measures it.
        end: when it must be done, on the clock of `time.monotonic`.

    """
    left = end - time.monotonic()
    if left <= 0:
        return OUT_OF_TIME
    try:
        with time_limit(left):
            return figure()
    except Skipped as why:
        return f"skipped: {why}"
    except TimeoutError:
        return OUT_OF_TIME
    except Exception as error:
        return {"failed": told(error)}


def told(error: Exception) -> str:
    """Return an error's type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}".strip()
