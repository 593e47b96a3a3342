"""How many machine-made mistakes the checks catch, and which pass."""

from pathlib import Path
from typing import Any

from grader.authoring.lesson import lessons
from grader.mutation.fingerprint_files import tally
from utils.checks.registry import exercises

ROOT = Path(__file__).resolve().parents[1]


def measure() -> dict[str, Any]:
    """Return the mutation score of each exercise, and what no case catches."""
    rows = {}
    for lesson in lessons(ROOT):
        for exercise in lesson.exercises:
            found = tally(lesson, exercise, ROOT)
            if found.made:
                rows[exercise.id] = {
                    "kind": exercises()[exercise.id].probe.kind,
                    "made": found.made,
                    "caught": found.made - len(found.passing),
                    "passing": [
                        f"{source.definition}: as if {mutant.as_if[0]} ({mutant.text})"
                        for source, mutant in found.passing
                    ],
                }
    made, caught = (sum(row[what] for row in rows.values()) for what in ("made", "caught"))
    return {"exercises": rows, "made": made, "caught": caught, "score": round(caught / made, 4)}
