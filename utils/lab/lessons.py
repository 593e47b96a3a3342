"""What a lesson asks for, read from the notebook that the course ships."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
MINUTES = re.compile(r"\*\*Time:\*\* (\d+) minutes")
LAB = re.compile(r"\d\d[a-z]_")  # how a lab's name begins
TEST = "test_"  # a test cell is called after its exercise


@dataclass(frozen=True)
class Asked:
    """One exercise of a lesson: its id, and the points of its test cell."""

    exercise: str
    points: float


@dataclass(frozen=True)
class Lesson:
    """A lesson as its notebook describes it.

    Attributes:
        name: its folder's and notebook's name.
        title: its heading.
        minutes: how long it takes, as it says; "" if it does not say.
        exercises: in the order of the notebook.

    """

    name: str
    title: str
    minutes: str
    exercises: tuple[Asked, ...]


def is_lab(name: str) -> bool:
    """Return whether a lesson is a lab: optional, and its points are extra."""
    return LAB.match(name) is not None


def read_lesson(notebook: Path) -> Lesson:
    """Read a lesson from the notebook that the course ships.

    Raises:
        OSError, ValueError: the notebook cannot be read.

    """
    cells = read_cells(notebook)
    first = source(cells[0]) if cells else ""
    title, minutes = TITLE.search(first), MINUTES.search(first)
    tests = [cell["metadata"]["nbgrader"] for cell in cells if _is_test(cell)]
    return Lesson(
        name=notebook.stem,
        title=title[1] if title else notebook.stem,
        minutes=minutes[1] if minutes else "",
        exercises=tuple(Asked(str(t["grade_id"]).removeprefix(TEST), t["points"]) for t in tests),
    )


def answers(notebook: Path) -> dict[str, str]:
    """Return the sources of a notebook's named cells by name; none if it cannot be read."""
    try:
        cells = read_cells(notebook)
    except (OSError, ValueError):
        return {}
    return {_grade_id(cell): source(cell) for cell in cells if _grade_id(cell)}


def misplaced(folder: Path, lesson: Lesson) -> str:
    """Return what to do where a lesson's notebook has another name; "" where it is in its place.

    Args:
        folder: the learner's folder of the lesson.
        lesson: as the course ships it.

    """
    name = f"{lesson.name}.ipynb"
    if (folder / name).is_file():
        return ""
    asked = {each.exercise for each in lesson.exercises}
    others = sorted(p.name for p in folder.glob("*.ipynb") if asked & answers(p).keys())
    if not others:
        return f"Put your notebook back into the folder {lesson.name}, under the name {name}."
    which = others[0] if len(others) == 1 else f"the right one of {', '.join(others)}"
    return f"Rename {which} to {name}: right-click it in the list of files, then Rename."


def was_run(notebook: Path) -> bool:
    """Return whether a cell of a notebook was ever run; not if the notebook cannot be read."""
    try:
        return any(cell.get("execution_count") for cell in read_cells(notebook))
    except (OSError, ValueError):
        return False


def read_cells(notebook: Path) -> list[dict[str, Any]]:
    """Read a notebook's cells.

    Raises:
        OSError: there is no such file, or it may not be read.
        ValueError: it is not a notebook.

    """
    try:
        return [dict(cell) for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]]
    except (KeyError, TypeError, RecursionError):
        raise ValueError(f"{notebook} is not a notebook") from None


def source(cell: dict[str, Any]) -> str:
    """Return a cell's source; the file holds it as one text or as lines."""
    lines = cell.get("source", "")
    return lines if isinstance(lines, str) else "".join(map(str, lines))


def _about(cell: dict[str, Any]) -> dict[str, Any]:
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return about if isinstance(about, dict) else {}


def _grade_id(cell: dict[str, Any]) -> str:
    return str(_about(cell).get("grade_id", ""))


def _is_test(cell: dict[str, Any]) -> bool:
    return _about(cell).get("grade") is True
