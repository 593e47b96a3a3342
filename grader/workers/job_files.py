"""A job's file, and its steps as isolated processes may know them: without versions' order."""

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
    """Return the steps as isolated processes may know them, the seed, and the tests' cases."""
    content = file.read_bytes()
    start = SEED_LENGTH + int.from_bytes(content[:SEED_LENGTH], "little")
    steps, cases = counted(json.loads(content[start:]))
    return steps, content[SEED_LENGTH:start], cases


def counted(steps: Steps) -> tuple[Steps, Cases]:
    """Return the steps, each with a count of cases or trials, and the cases of students' tests.

    Which version each trial is on is drawn from these cases, which the steps no longer have.
    """
    tests = {s["exercise"]: s["cases"] for s in steps if s["exercise"] and _served(s["exercise"])}
    known = [s | {"count": len(s["cases"])} for s in steps]
    hidden = {name: {"cases": [], "count": len(tries(name, c))} for name, c in tests.items()}
    return [step | hidden.get(step["exercise"], {}) for step in known], tests


def _served(exercise: str) -> bool:
    return bool(probes()[exercise].served)


def tries(exercise: str, cases: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the places of a student's test's cases, each as often as it is tried in a trial run.

    The right versions (their cases are required) answer alike: each comes once, and every broken
    one as often as all of them together, so that how often an answer comes says nothing.
    """
    right = [dict(case.params) for case in probes()[exercise].cases if case.required]
    times = [1 if params in right else max(1, len(right)) for params in cases]
    return [place for place, n in enumerate(times) for _ in range(n)]
