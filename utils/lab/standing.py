"""How each exercise stands: what is on record about it, compared with the notebook as saved."""

from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from utils.lab.lessons import Lesson, answers
from utils.progress.record import Record, checksum, read


class State(Enum):
    """What can be said about an exercise."""

    OPEN = auto()  # nothing is on record, or there was no answer yet
    FAILS = auto()  # the last check did not pass
    PASSED = auto()  # the last check passed, and no later change of the answer is known
    CHANGED = auto()  # the last check passed, but the saved cell is another one since


@dataclass(frozen=True)
class Standing:
    """How one exercise stands.

    Attributes:
        exercise: its id.
        points: what it is worth.
        state: what can be said about it.
        record: what its last check found, None if nothing is on record.
        unsaved: whether the notebook was not saved since the check.

    """

    exercise: str
    points: float
    state: State
    record: Record | None
    unsaved: bool = False


NAMED = 2  # exercises that a line names, at most


def what_passes(found: list[Standing]) -> str:
    """Return in one line how many of a lesson's exercises pass, and which ones do not."""
    others = [each.exercise for each in found if each.state is not State.PASSED]
    line = f"{len(found) - len(others)} of {len(found)} exercises pass."
    if not others:
        return line
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    return f"{line} Not yet: {', '.join(others[:NAMED])}{more}."


def standings(learn: Path, lesson: Lesson) -> list[Standing]:
    """Return how a lesson's exercises stand, in order.

    Args:
        learn: the folder with the learner's copies.
        lesson: the lesson as the course ships it.

    """
    notebook = learn / lesson.name / f"{lesson.name}.ipynb"
    cells = answers(notebook)
    saved = notebook.stat().st_mtime if cells else 0.0
    return [
        _standing(asked.exercise, asked.points, read(learn, lesson.name, asked.exercise), at)
        for asked in lesson.exercises
        for at in [(cells.get(asked.exercise), saved)]
    ]


def _standing(
    exercise: str, points: float, record: Record | None, at: tuple[str | None, float]
) -> Standing:
    """Compare a record with the exercise's cell in the notebook and the time it was saved."""
    if record is None or not record.started:
        return Standing(exercise, points, State.OPEN, record)
    if not record.passed:
        return Standing(exercise, points, State.FAILS, record)
    cell, saved = at
    same = cell is None or record.cell is None or checksum(cell) == record.cell
    unsaved = not same and saved < record.checked
    state = State.PASSED if same or unsaved else State.CHANGED
    return Standing(exercise, points, state, record, unsaved)
