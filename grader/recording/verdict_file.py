"""verdict.json: all findings on a submission, as plain data beside its graded copy."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from grader.judging.outcome import ExerciseResult, Outcome
from utils.checks.compare.compare import Finding, number
from utils.checks.observation import Array

MOST_ROWS: Final = 8
MOST_COLUMNS: Final = 12
LABELS: Final = ("expected", "got")


def verdict_file(outcome: Outcome, notebook: Mapping[str, Any], about: Mapping[str, Any]) -> bytes:
    """Return the file's content; `grader.course.graded_copies` says what is what, and reads it.

    Args:
        outcome: the submission's grade.
        notebook: the graded copy.
        about: what was graded, by what, and which copy this is of.

    """
    sources = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["source"]
        for cell in notebook["cells"]
        if "nbgrader" in cell["metadata"]
    }
    answers = {r.exercise: _answer(r, sources.get(r.exercise, "")) for r in outcome.results}
    told = {"status": outcome.status, "notes": outcome.notes, **about, "answers": answers}
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")


def _answer(result: ExerciseResult, source: str) -> dict[str, Any]:
    told: dict[str, Any] = {"source": source, "score": result.score}
    told["notes"] = [result.note] if result.note else []
    if result.verdict is None:
        return told
    told["verdict"] = result.verdict.as_json()
    failure = result.verdict.first_failure
    if failure is not None and failure.finding is not None:
        several = len(result.verdict.results) > 1 and not result.verdict.is_stub
        told["case"] = failure.case.name if several else ""
        told |= {name: getattr(failure.finding, name) for name in ("message", "details", "line")}
        told["pictures"] = list(_pictures(failure.finding))
    return told


def _pictures(finding: Finding) -> Iterator[dict[str, Any]]:
    """Yield what was expected and the result: the first entries, and how dark each is drawn."""
    if finding.pictures is None:
        return
    both = np.concatenate([matrix.astype(float).ravel() for matrix in finding.pictures])
    finite = both[np.isfinite(both)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    for label, matrix in zip(LABELS, finding.pictures, strict=True):
        yield {"label": label, "rows": _rows(matrix, low, high)}


def _rows(matrix: Array, low: float, high: float) -> list[list[tuple[str, float | None]]]:
    return [
        [(number(value), _darkness(float(value), low, high)) for value in row]
        for row in matrix[:MOST_ROWS, :MOST_COLUMNS]
    ]


def _darkness(value: float, low: float, high: float) -> float | None:
    """Return where a value is between the lowest and the highest, 0 to 1; None if not finite."""
    if not np.isfinite(value):
        return None
    return (value - low) / (high - low) if high > low else 0.5
