"""A job's file, and its steps as isolated processes may know them: without what cases ask."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from utils.checks.registry import probes

Steps = list[dict[str, Any]]
Cases = Mapping[str, Sequence[Mapping[str, Any]]]  # exercise -> the parameters of its cases
SEED_LENGTH: Final = 1  # bytes that say how long the seed is


def write_job(file: Path, steps: bytes, seed: bytes) -> None:
    """Write a job's file.

    Args:
        file: where only this side may read.
        steps: Plan.as_json() as bytes.
        seed: what hidden orders are drawn from.

    """
    file.write_bytes(len(seed).to_bytes(SEED_LENGTH, "little") + seed + steps)


def job_line(spent: float, file: Path) -> bytes:
    """Write a job's line: the seconds that earlier tries took, and where its file is."""
    return f"{spent:f} {quote_from_bytes(os.fsencode(file))}\n".encode()


def read_line(line: bytes) -> tuple[float, Path]:
    """Read a job's line."""
    spent, _, file = line.rstrip(b"\n").partition(b" ")
    return float(spent), Path(os.fsdecode(unquote_to_bytes(file)))


def read_job(file: Path) -> tuple[Steps, bytes, Cases]:
    """Return the steps with the numbers of cases, the seed, and the cases."""
    content = file.read_bytes()
    start = SEED_LENGTH + int.from_bytes(content[:SEED_LENGTH], "little")
    steps, cases = counted_apart(json.loads(content[start:]))
    return steps, content[SEED_LENGTH:start], cases


def counted_apart(steps: Steps) -> tuple[Steps, Cases]:
    """Return the steps with how many cases, or trials, each has, and the cases."""
    cases = {step["exercise"]: step["cases"] for step in steps if step["exercise"]}
    counts = {exercise: len(_tried(exercise, found)) for exercise, found in cases.items()}
    return [step | {"cases": counts.get(step["exercise"], 0)} for step in steps], cases


def _tried(exercise: str, cases: Sequence[Mapping[str, Any]]) -> Sequence[object]:
    return tries(exercise, cases) if probes()[exercise].served else cases


def tries(exercise: str, cases: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the places of a student's test's cases, each as often as it is tried in a trial run.

    The right versions (their cases are required) answer alike: each comes once, and every broken
    one as often as all of them together, so that how often an answer comes says nothing.
    """
    right = [dict(case.params) for case in probes()[exercise].cases if case.required]
    times = [1 if params in right else max(1, len(right)) for params in cases]
    return [place for place, n in enumerate(times) for _ in range(n)]
