"""How long a student waits for a visible check: with right answers and the slowest mistakes."""

import time
from typing import Any

from utils.checks import check
from utils.checks.framework import expected
from utils.checks.framework.render import as_mimebundle
from utils.checks.registry import exercises

ROUNDS = 5


def measure() -> dict[str, Any]:
    """Return milliseconds by exercise: for a right answer, and for the slowest known mistake."""
    rows = {}
    for name, exercise in exercises().items():
        verdict = getattr(check, name).verdict
        wrong = [milliseconds(verdict, m.answer) for m in exercise.mistakes]
        rows[name] = {
            "right": milliseconds(verdict, exercise.oracle),
            "slowest mistake": max(wrong),
        }
    return {"milliseconds": rows, "longest": max(max(row.values()) for row in rows.values())}


def milliseconds(verdict: Any, answer: Any) -> float:
    """Return the median of a few rounds, including showing the verdict."""
    times = []
    for _ in range(ROUNDS):
        expected.forget()  # a student's first check finds it empty too
        start = time.perf_counter()
        as_mimebundle(verdict(answer))
        times.append(1e3 * (time.perf_counter() - start))
    return round(sorted(times)[ROUNDS // 2], 1)
