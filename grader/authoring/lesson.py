"""A lesson, read from its text and checked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.authoring.percent import Cell, read_cells
from grader.authoring.test_cell import read_test_cell
from grader.authoring.validate import problems
from grader.errors import CourseError, verify_known

NAME = re.compile(r"\d\d[a-z]?_[a-z0-9_]+")  # 06b_name: a lab behind lesson 06


@dataclass(frozen=True)
class LessonExercise:
    """One exercise: its id, points, hidden cases, and the source of its cells (with answers).

    `mistakes` are those that a class adds to the course's, as a table.
    """

    id: str
    points: float
    hidden: list[dict[str, Any]]
    source: str
    test_source: str
    mistakes: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def asked(self) -> str:
        """What tells its hidden cases from others: a class may have its own."""
        return repr(self.hidden)


@dataclass(frozen=True)
class Lesson:
    """A lesson's cells and exercises, in the order of its text."""

    name: str
    text_path: Path
    cells: list[Cell]
    exercises: list[LessonExercise]

    @property
    def number(self) -> str:
        """What stands before its name: "06", or "06b" of a lab."""
        return self.name.partition("_")[0]

    @property
    def points(self) -> float:
        """The points of all its exercises together."""
        return sum(exercise.points for exercise in self.exercises)

    @property
    def solution_path(self) -> Path:
        """The executed notebook, nbgrader's source."""
        return self.text_path.with_suffix("") / f"{self.name}.ipynb"

    @property
    def release_path(self) -> Path:
        """The students' notebook, nbgrader's release."""
        root = self.text_path.parent.parent
        return root / "notebooks" / self.name / f"{self.name}.ipynb"


def lessons(root: Path, names: Sequence[str] = ()) -> list[Lesson]:
    """Return the lessons of the course at `root`, or those named, in order.

    Raises CourseError with every fault in their texts, UsageError for a name that no lesson has;
    other texts are not read.
    """
    found, faults = [], []
    for path in _texts(root, names):
        try:
            found.append(read_lesson(path))
        except CourseError as error:
            faults.append(str(error))
    if faults:
        raise CourseError("\n".join(faults))
    return found


def _texts(root: Path, names: Sequence[str]) -> list[Path]:
    """Return the lessons' texts in order; a path to a text also serves as a name."""
    texts = {path.stem: path for path in sorted((root / "solutions").glob("*.py"))}
    wanted = [Path(name).name.removesuffix(".py") for name in names]
    for name in wanted:
        verify_known("lesson", name, texts)
    return [path for name, path in texts.items() if not wanted or name in wanted]


def read_lesson(path: Path) -> Lesson:
    """Read one lesson's text; raise CourseError with one `file:line: message` per fault."""
    shown = f"solutions/{path.name}"
    if not NAME.fullmatch(path.stem):
        raise CourseError(
            f"{shown}: name it NN_name.py: two digits, then small letters, digits, _ "
            "(a lab: NNb_name.py)"
        )
    cells = read_cells(path.read_text(encoding="utf-8"), shown)
    faults = problems(cells)
    if faults:
        raise CourseError("\n".join(f"{shown}:{fault.line}: {fault.message}" for fault in faults))
    return Lesson(path.stem, path, cells, _exercises(cells))


def _exercises(cells: list[Cell]) -> list[LessonExercise]:
    """Pair each exercise cell with its test cell; the cells are valid."""
    tests = {cell.test: cell.source for cell in cells if cell.test}
    return [
        _exercise(cell.exercise, cell.source, tests[cell.exercise])
        for cell in cells
        if cell.exercise
    ]


def _exercise(name: str, source: str, test_source: str) -> LessonExercise:
    test = read_test_cell(test_source, name)
    return LessonExercise(name, test.points, test.hidden, source, test_source)
