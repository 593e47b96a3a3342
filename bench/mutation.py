"""How many machine-made mistakes the checks catch, and which pass: with the reason, if known."""

import re
from pathlib import Path
from typing import Any

from grader.authoring.lesson import lessons
from grader.mutation.fingerprint_files import tally
from utils.checks.framework.exercise import ExerciseKind
from utils.checks.registry import exercises

ROOT = Path(__file__).resolve().parents[1]
# What passes every case and is right to: pattern of the change -> why nothing is wrong with it.
REASONS = {
    r"applied twice": "done again it changes nothing",
    r"axis -\d|a -?[12] were -?[12] |a -1 were (0|-2) \(-1\)|exchanged in `transpose`": "the same "
    "axis, counted from the other end",
    r"`relu` were applied to the result": "the result is nowhere negative",
    r"constant 1e[+-]\d+ were": "any number so large, or so small, does the same",
    r"a (512|8|6|2048|5000|32) were|constant 0\.02": "a default or a start that is free",
    r"`detach` were|device|dtype|`to` were|`cpu`|`tolist`|strict": "shows on another device, in "
    "another precision, or for a caller that needs another type",
}


def measure() -> dict[str, Any]:
    """Return the mutation score of each exercise, and what no case catches."""
    rows = {}
    for lesson in lessons(ROOT):
        for exercise in lesson.exercises:
            if exercises()[exercise.id].probe.kind == ExerciseKind.TEST_THE_TEST:
                continue  # a weaker test may still catch every broken version
            found = tally(lesson, exercise, ROOT)
            if found.made:
                rows[exercise.id] = {
                    "made": found.made,
                    "caught": found.made - len(found.passing),
                    "passing": explained(
                        f"{source.definition}: as if {mutant.as_if[0]} ({mutant.text})"
                        for source, mutant in found.passing
                    ),
                }
    return {"exercises": rows} | summary(rows)


def explained(passing: Any) -> dict[str, list[str]]:
    """Sort what passes by the reason why that is right; what has none comes last."""
    found: dict[str, list[str]] = {}
    for text in passing:
        reasons = (reason for pattern, reason in REASONS.items() if re.search(pattern, text))
        found.setdefault(next(reasons, "not explained"), []).append(text)
    return dict(sorted(found.items(), key=lambda entry: entry[0] == "not explained"))


def summary(rows: dict[str, Any]) -> dict[str, Any]:
    """Count all, the caught, and those that pass for no known reason."""
    made, caught = (sum(row[what] for row in rows.values()) for what in ("made", "caught"))
    unknown = sum(len(row["passing"].get("not explained", ())) for row in rows.values())
    return {
        "made": made,
        "caught": caught,
        "passing for a reason": made - caught - unknown,
        "passing, not explained": unknown,
        "score": round(caught / (made - (made - caught - unknown)), 4),
    }
