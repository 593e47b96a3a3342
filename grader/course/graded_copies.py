"""What graded copies say about themselves: status, notes, and the mistakes that were named."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from utils.checks.framework.mime import MIME

OUTCOME: Final = "course_outcome"  # the key in a graded copy's metadata


@dataclass(frozen=True)
class Named:
    """A known mistake that a verdict named."""

    exercise: str
    mistake: str
    message: str


class FirstTry(NamedTuple):
    """An exercise in the first graded hand-in that had it written.

    Attributes:
        submission: fingerprint of the hand-in.
        share: of the points, 0 to 1.

    """

    submission: str
    share: float


@dataclass(frozen=True)
class GradedCopy:
    """What autograded/<student>/<lesson>/<lesson>.ipynb holds.

    Attributes:
        status: the fast engine's; "graded" for a copy that nbgrader's own engine made.
        submission: fingerprint of what was graded, if the fast engine noted one.
        notes: sentences for the student about the notebook as a whole.
        mistakes: in notebook order.
        is_ours: whether the fast engine made it, not nbgrader's own.
        judged_by: exercise -> fingerprint of what judged it.
        first_tries: exercise -> how right it was at first; nothing of what was never written, or
            was graded by nbgrader's own engine.

    """

    status: str
    submission: str
    notes: tuple[str, ...]
    mistakes: tuple[Named, ...]
    is_ours: bool = True
    judged_by: Mapping[str, str] = field(default_factory=dict)
    first_tries: Mapping[str, FirstTry] = field(default_factory=dict)


def read_copy(folder: Path, student: str, lesson: str) -> GradedCopy | None:
    """Read a graded copy.

    Args:
        folder: the one that holds autograded/.
        student: the student's id.
        lesson: the lesson's name.

    Returns:
        None if there is none, or if it was not fully written.

    """
    path = folder / "autograded" / student / lesson / f"{lesson}.ipynb"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    about = notebook["metadata"].get(OUTCOME, {})
    return GradedCopy(
        about.get("status", "graded"),
        about.get("submission", ""),
        tuple(about.get("notes", ())),
        tuple(_named(notebook)),
        bool(about),
        about.get("judged_by", {}),
        read_first_tries(about),
    )


def read_first_tries(about: Mapping[str, Any]) -> dict[str, FirstTry]:
    """Read exercise -> first try from a graded copy's metadata; a faulty one counts as none."""
    found = about.get("first_tries")
    return {
        exercise: FirstTry(given[0], float(given[1]))
        for exercise, given in (found.items() if isinstance(found, dict) else ())
        if isinstance(given, list) and [type(part) for part in given] in ([str, float], [str, int])
    }


def _named(notebook: dict[str, Any]) -> Iterator[Named]:
    for verdict in _verdicts(notebook):
        for mistake in (verdict["mistake"], verdict.get("second")):
            if mistake:
                yield Named(verdict["exercise"], mistake["name"], mistake["message"])


def _verdicts(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            outputs = [output.get("data", {}) for output in cell.get("outputs", [])]
            verdicts = [json.loads(data[MIME]) for data in outputs if MIME in data]
            yield from [verdict for verdict in verdicts if verdict["points"] is not None]
