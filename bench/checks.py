"""How long a student waits for a visible check: right answers, and the worst mistake of each."""

import time
from typing import Any

from utils.checks import check, judge
from utils.checks.registry import exercises

ROUNDS = 5


def measure() -> dict[str, Any]:
    """Milliseconds by exercise: a right answer, and the slowest of the known mistakes."""
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
    """The middle of a few rounds, shown verdict included."""
    times = []
    for _ in range(ROUNDS):
        judge._OWN.clear()  # a student's first check finds nothing there either
        start = time.perf_counter()
        verdict(answer)._repr_mimebundle_()
        times.append(1e3 * (time.perf_counter() - start))
    return round(sorted(times)[ROUNDS // 2], 1)
