"""The right answers that mistakes are made from: the solution's and other right forms."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader.authoring.lesson import Lesson, LessonExercise
from grader.mutation.mutants import names_given

_FORMS = Path("tests") / "course" / "right_forms"


@dataclass(frozen=True)
class Source:
    """A right answer as text.

    Attributes:
        exercise: the exercise's id.
        definition: the name of the function or class.
        text: its source, with what it stands among if need be.
        known: names that a student was given.
        beside: the names among which it runs.

    """

    exercise: str
    definition: str
    text: str
    known: frozenset[str]
    beside: Mapping[str, Any]


def sources(lesson: Lesson, exercise: LessonExercise, root: Path) -> Iterator[Source]:
    """Return the solution's definition and, where the folder of right forms is, those."""
    known = names_given(exercise.source)
    if not _defines(exercise.source, exercise.id):
        return  # a prediction: a number or a word
    yield Source(exercise.id, exercise.id, exercise.source, known, names_of(lesson))
    path = root / _FORMS / f"{lesson.name.partition('_')[2]}.py"
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        for form in _forms(path).get(exercise.id, []):
            name = getattr(form, "__name__", "")
            if (inspect.isfunction(form) or inspect.isclass(form)) and _defines(text, name):
                yield Source(exercise.id, name, text, known, {})


def _defines(text: str, name: str) -> bool:
    return any(getattr(node, "name", "") == name for node in ast.parse(text).body)


@cache
def _forms(path: Path) -> Mapping[str, list[Any]]:
    namespace: dict[str, Any] = {"__name__": "right_forms"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    forms: Mapping[str, list[Any]] = namespace["FORMS"]
    return forms


_NAMES: dict[str, dict[str, Any]] = {}


def names_of(lesson: Lesson) -> dict[str, Any]:
    """Return what a lesson's cells define, demonstrations and tests left out."""
    if lesson.name not in _NAMES:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        for cell in lesson.cells:
            if cell.kind == "code" and not cell.test and "skip-grading" not in cell.tags:
                exec(compile(cell.source, "<cell>", "exec"), namespace)
        _NAMES[lesson.name] = namespace
    return _NAMES[lesson.name]
