"""How long a student waits for a visible check: seconds of one processor, caches empty.

Each figure is the best of two, because others on a machine slow a single one down.
"""

import statistics
import time
from typing import Any

from utils.checks import check
from utils.checks.api import settle
from utils.checks.combining import made
from utils.checks.observe import expected
from utils.checks.registry import exercises
from utils.checks.render import as_mimebundle

ROUNDS = 5
TRIES = 2


def measure() -> dict[str, Any]:
    """Return milliseconds by exercise, for a right answer and for each known mistake."""
    settle()  # as a notebook's first check does
    rows, all_wrong = {}, []
    for name, exercise in exercises().items():
        verdict = getattr(check, name).verdict
        verdict(exercise.oracle)  # reading the lesson's file counts once, as in a notebook
        wrong = [
            min(milliseconds(verdict, made(mistake.answer)) for _ in range(TRIES))
            for mistake in exercise.mistakes
        ]
        right = sorted(milliseconds(verdict, exercise.oracle) for _ in range(ROUNDS))
        rows[name] = {"right": right[ROUNDS // 2], "slowest mistake": max(wrong)}
        all_wrong += wrong
    shares = statistics.quantiles(all_wrong, n=20)
    return {
        "milliseconds": rows,
        "wrong answers": len(all_wrong),
        "median": round(statistics.median(all_wrong), 1),
        "95 of 100 within": round(shares[-1], 1),
        "longest": max(max(row.values()) for row in rows.values()),
    }


def milliseconds(verdict: Any, answer: Any) -> float:
    """Return what a check and its display take of one processor."""
    expected.forget()  # a student's first check finds it empty too
    start = time.process_time()
    as_mimebundle(verdict(answer))
    return round(1e3 * (time.process_time() - start), 1)
