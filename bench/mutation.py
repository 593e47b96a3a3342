"""How many machine-made mistakes the checks catch, and which pass: with the reason, if known."""

from pathlib import Path
from typing import Any

from bench.mutation_reasons import reason_for
from grader.authoring.lesson import lessons
from grader.mutation.fingerprint_files import Tally, tally
from utils.checks.framework.exercise import ExerciseKind
from utils.checks.registry import exercises

ROOT = Path(__file__).resolve().parents[1]
UNKNOWN = "not explained"


def measure() -> dict[str, Any]:
    """Return the mutation score of each exercise, and what no case catches."""
    rows = {}
    for lesson in lessons(ROOT):
        for exercise in lesson.exercises:
            if exercises()[exercise.id].probe.kind == ExerciseKind.TEST_THE_TEST:
                continue  # a weaker test may still catch every broken version
            found = tally(lesson, exercise, ROOT)
            if found.made:
                rows[exercise.id] = row(exercise.id, found)
    return {"exercises": rows} | summary(rows)


def row(exercise: str, found: Tally) -> dict[str, Any]:
    """Count an exercise's mutants, and sort those that pass by the reason why that is right."""
    passing: dict[str, list[str]] = {}
    for source, mutant in found.passing:
        line = source.text.splitlines()[mutant.place[2] - 1].strip()
        change = f"{source.definition}: as if {mutant.as_if[0]} ({mutant.text})"
        reason = reason_for(f"{exercise} / {change}", line) or UNKNOWN
        passing.setdefault(reason, []).append(f"{change} in: {line}")
    caught = found.made - len(found.passing)
    by_reason = dict(sorted(passing.items(), key=lambda entry: entry[0] == UNKNOWN))
    explained = sum(map(len, passing.values())) - len(passing.get(UNKNOWN, ()))
    score = round(caught / max(found.made - explained, 1), 4)
    return {"made": found.made, "caught": caught, "score": score, "passing": by_reason}


def summary(rows: dict[str, Any]) -> dict[str, Any]:
    """Count all, the caught, and those that pass for no known reason."""
    made, caught = (sum(row[what] for row in rows.values()) for what in ("made", "caught"))
    unknown = sum(len(row["passing"].get(UNKNOWN, ())) for row in rows.values())
    return {
        "made": made,
        "caught": caught,
        "passing for a reason": made - caught - unknown,
        "passing, not explained": unknown,
        "score": round(caught / (made - (made - caught - unknown)), 4),
    }
