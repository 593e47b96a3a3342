"""What graded copies say of themselves: status, notes, and the mistakes that were named."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from utils.checks.verdict import MIME

OUTCOME: Final = "course_outcome"  # the key in a graded copy's metadata


@dataclass(frozen=True)
class Named:
    """A known mistake that a verdict named."""

    exercise: str
    mistake: str
    says: str


@dataclass(frozen=True)
class GradedCopy:
    """autograded/<student>/<lesson>/<lesson>.ipynb, read.

    Attributes:
        status: the fast engine's; "graded" for a copy that nbgrader's own engine made.
        submission: fingerprint of what was graded, where the fast engine noted one.
        notes: sentences for the student about the notebook as a whole.
        mistakes: in the notebook's order.
    """

    status: str
    submission: str
    notes: tuple[str, ...]
    mistakes: tuple[Named, ...]


def read_copy(folder: Path, student: str, lesson: str) -> GradedCopy | None:
    """Read a graded copy.

    Args:
        folder: the one that holds autograded/.
        student: whose.
        lesson: which.

    Returns:
        None where there is none, or where it was not written to its end.
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
    )


def _named(notebook: dict[str, Any]) -> Iterator[Named]:
    for verdict in _verdicts(notebook):
        if verdict["mistake"]:
            mistake = verdict["mistake"]
            yield Named(verdict["exercise"], mistake["name"], mistake["says"])


def _verdicts(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            outputs = [output.get("data", {}) for output in cell.get("outputs", [])]
            verdicts = [json.loads(data[MIME]) for data in outputs if MIME in data]
            yield from [verdict for verdict in verdicts if verdict["points"] is not None]
