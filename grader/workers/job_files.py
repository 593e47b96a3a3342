"""A job's files: what its isolated processes are copied with, and what is read after the copy.

Memory is copied when a process starts, and what lies in it can be found. So the parameters of all
cases, and what hidden orders are drawn from, stand in files of their own.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from utils.checks.registry import probes

Steps = list[dict[str, Any]]
Cases = Mapping[str, Sequence[Mapping[str, Any]]]  # exercise -> the parameters of its cases


def write_job(file: Path, steps: bytes, seed: bytes) -> None:
    """Write a job's files.

    Args:
        file: the first of them.
        steps: Plan.as_json() as bytes.
        seed: what hidden orders are drawn from.

    """
    counted, cases = counted_apart(json.loads(steps))
    file.write_text(json.dumps(counted))
    file.with_suffix(".cases").write_text(json.dumps(cases))
    file.with_suffix(".seed").write_bytes(seed)


def read_steps(file: Path) -> Steps:
    """Return the steps, with the numbers of cases."""
    steps: Steps = json.loads(file.read_bytes())
    return steps


def read_hidden(file: Path) -> tuple[bytes, Cases]:
    """Return the seed and the cases; not before the isolated process is forked."""
    cases: Cases = json.loads(file.with_suffix(".cases").read_bytes())
    return file.with_suffix(".seed").read_bytes(), cases


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
