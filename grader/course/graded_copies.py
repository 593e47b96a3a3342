"""What graded copies say about themselves: status, notes, and the mistakes that were named."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from grader.course.outcome_key import OUTCOME
from grader.course.verdicts import MOST_TEXT, ShownVerdict, read_verdict
from utils.checks.framework.mime import MIME

NOT_ENTERED: Final = ".not-entered"  # beside a graded copy whose scores the gradebook may lack


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
    except (OSError, ValueError, RecursionError):
        return None
    about = _dict(_dict(_dict(notebook).get("metadata")).get(OUTCOME))
    notes = about.get("notes")
    return GradedCopy(
        _text(about.get("status")) or "graded",
        _text(about.get("submission")),
        tuple(note for note in map(_text, notes if isinstance(notes, list) else ()) if note),
        tuple(_named(_dict(notebook))),
        bool(about),
        {name: x for name, x in _dict(about.get("judged_by")).items() if isinstance(x, str)},
        read_first_tries(about),
    )


def is_entered(folder: Path, student: str, lesson: str) -> bool:
    """Return whether the gradebook has the scores of a graded copy, as far as the copy says."""
    return not (folder / "autograded" / student / lesson / NOT_ENTERED).exists()


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value[:MOST_TEXT] if isinstance(value, str) else ""


def read_first_tries(about: Mapping[str, Any]) -> dict[str, FirstTry]:
    """Read exercise -> first try from a graded copy's metadata; a faulty one counts as none."""
    return {
        exercise: FirstTry(given[0], float(given[1]))
        for exercise, given in _dict(about.get("first_tries")).items()
        if _is_first_try(given)
    }


def _is_first_try(given: object) -> bool:
    """Return whether it is a fingerprint and a share; a huge number would be no float at all."""
    if not isinstance(given, list):
        return False
    kinds = [type(part) for part in given]
    return kinds in ([str, float], [str, int]) and bool(0 <= given[1] <= 1)


def _named(notebook: dict[str, Any]) -> Iterator[Named]:
    for verdict in _verdicts(notebook):
        for cause in verdict.causes:
            yield Named(verdict.exercise, cause.name, cause.message)


def _verdicts(notebook: dict[str, Any]) -> Iterator[ShownVerdict]:
    """Yield what is a verdict; on nbgrader's own engine any code may have shown what is none."""
    cells = notebook.get("cells")
    for cell in map(_dict, cells if isinstance(cells, list) else ()):
        outputs = cell.get("outputs")
        if _dict(_dict(cell.get("metadata")).get("nbgrader")).get("grade"):
            for output in map(_dict, outputs if isinstance(outputs, list) else ()):
                verdict = read_verdict(_dict(output.get("data")).get(MIME))
                if verdict is not None:
                    yield verdict
