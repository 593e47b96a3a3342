"""A cell that is gone, or does not run, costs its own exercise and no other."""

import contextlib
from functools import cache

import pytest

from tests.course.lesson_runs import all_lessons, exercise_ids, lesson_of


@cache
def scores_of_all(lesson_name):
    """The scores with all cells there, for tests that run before any cell is missing."""
    return scores_without(all_lessons()[lesson_name], None)


def scores_without(lesson, missing):
    """Run a lesson's cells as a notebook does, one of them left out and errors passed over."""
    namespace, scores, is_whole = {"__name__": "__main__"}, {}, True
    for cell in lesson.cells:
        if cell.kind != "code" or "skip-grading" in cell.tags:
            continue
        if missing and cell.exercise == missing:
            is_whole = False
            continue
        if cell.test and missing and is_whole:
            scores[cell.test] = scores_of_all(lesson.name)[cell.test]
            continue
        with contextlib.suppress(Exception):
            exec(compile(cell.source, "<cell>", "exec"), namespace)
        if cell.test in namespace:
            exercise = next(e for e in lesson.exercises if e.id == cell.test)
            check, answer = getattr(namespace["check"], cell.test), namespace[cell.test]
            verdict = check.verdict(answer, points=exercise.points, hidden=exercise.hidden)
            scores[cell.test] = verdict.score
    return scores


@pytest.mark.table
@pytest.mark.parametrize("exercise", exercise_ids())
def test_a_missing_cell_costs_its_own_exercise_alone(exercise):
    lesson = lesson_of(exercise)
    full = {e.id: e.points for e in lesson.exercises}
    assert scores_without(lesson, exercise) == {k: v for k, v in full.items() if k != exercise}
