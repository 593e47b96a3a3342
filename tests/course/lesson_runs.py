"""Run a lesson's cells in one plain namespace, as a notebook would, and see the scores."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from grader.authoring.lesson import Lesson, lessons
from utils.checks.verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]


@cache
def all_lessons() -> Mapping[str, Lesson]:
    return {lesson.name: lesson for lesson in lessons(ROOT)}


def lesson_of(exercise: str) -> Lesson:
    return next(
        lesson for lesson in all_lessons().values() if exercise in [e.id for e in lesson.exercises]
    )


def exercise_ids() -> list[str]:
    return [exercise.id for lesson in all_lessons().values() for exercise in lesson.exercises]


@dataclass
class Run:
    """Scores and last verdicts by exercise."""

    scores: dict[str, float] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)


def run_lesson(
    lesson: Lesson, answers: Mapping[str, Any] | None = None, of_solution: Run | None = None
) -> Run:
    """Run a lesson with some answers in place of the solution's.

    Args:
        lesson: which one.
        answers: exercise id -> object that replaces the solution's.
        of_solution: a run without other answers. Until the first of these takes its place both
            runs are the same, so that tests above it need not be run a second time.
    """
    answers = answers or {}
    run, namespace = Run(), {"__name__": "__main__"}
    for cell in lesson.cells:
        if cell.kind != "code" or "skip-grading" in cell.tags:
            continue
        if cell.test and of_solution is not None and not answers.keys() & namespace.keys():
            run.scores[cell.test] = of_solution.scores[cell.test]
            run.verdicts[cell.test] = of_solution.verdicts[cell.test]
            continue
        with mock.patch("utils.checks.api.show", _recorder(run)):
            value = _execute(cell.source, namespace)
        if cell.test:
            run.scores[cell.test] = value
        if cell.exercise in answers:
            namespace[cell.exercise] = answers[cell.exercise]
    return run


def names_of(lesson: Lesson) -> dict[str, Any]:
    """The names that a lesson's cells define, demonstrations and tests left out."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in lesson.cells:
        if cell.kind == "code" and not cell.test and "skip-grading" not in cell.tags:
            exec(compile(cell.source, "<cell>", "exec"), namespace)
    return namespace


def _recorder(run: Run) -> Any:
    return lambda verdict: run.verdicts.update({verdict.exercise: verdict})


def _execute(source: str, namespace: dict[str, Any]) -> Any:
    """Run a cell; give the value of its last line, as a notebook does."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    if last is not None:
        return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    return None
