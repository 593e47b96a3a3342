"""Fit the gradebook to a lesson whose exercises have changed while it has submissions.

nbgrader refuses to add or remove cells then. Here what is gone goes with its scores, what is new is
added to every submission without a score, and all else stays: scores, points given by hand,
comments, extra credit.
"""

from typing import Any

from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    SolutionCell,
    SourceCell,
)

from grader.authoring.lesson import Lesson, LessonExercise


def is_recorded(gradebook: Gradebook, lesson: Lesson) -> bool:
    """Return whether the gradebook has the lesson's exercises, points and tests as they are now."""
    try:
        notebook = gradebook.find_notebook(lesson.name, lesson.name)
    except MissingEntry:
        return False
    points = {cell.name: cell.max_score for cell in notebook.grade_cells}
    tests = {cell.name: cell.source for cell in notebook.source_cells if cell.name in points}
    return points == {f"test_{e.id}": e.points for e in lesson.exercises} and tests == {
        f"test_{e.id}": e.test_source for e in lesson.exercises
    }


def fit(gradebook: Gradebook, lesson: Lesson) -> None:
    """Remove exercises that the lesson no longer has and add those that are new.

    Their tests' text is left to nbgrader, which records it when the cells are the same.
    """
    try:
        notebook = gradebook.find_notebook(lesson.name, lesson.name)
    except MissingEntry:
        return
    if not notebook.submissions:
        return
    ids = {exercise.id for exercise in lesson.exercises}
    _remove(gradebook.db, notebook, ids | {f"test_{name}" for name in ids})
    known = {cell.name for cell in notebook.solution_cells}
    for exercise in lesson.exercises:
        if exercise.id not in known:
            _add(gradebook.db, notebook, exercise)
    gradebook.db.flush()


def _remove(db: Any, notebook: Any, wanted: set[str]) -> None:
    for cell in [*notebook.grade_cells, *notebook.solution_cells]:
        if cell.name not in wanted:
            for kind in (Grade, Comment):
                db.query(kind).filter(kind.cell_id == cell.id).delete()
            db.delete(cell)
    for cell in notebook.source_cells:
        if cell.name not in wanted:
            db.delete(cell)
    db.flush()
    db.expire_all()


def _add(db: Any, notebook: Any, exercise: LessonExercise) -> None:
    test = f"test_{exercise.id}"
    grade = GradeCell(name=test, notebook=notebook, max_score=exercise.points, cell_type="code")
    solution = SolutionCell(name=exercise.id, notebook=notebook)
    db.add_all([grade, solution])
    for name, locked in ((exercise.id, False), (test, True)):
        db.add(SourceCell(name=name, notebook=notebook, cell_type="code", locked=locked))
    db.flush()
    for submitted in notebook.submissions:
        db.add(Grade(cell_id=grade.id, notebook=submitted))
        db.add(Comment(cell_id=solution.id, notebook=submitted))
