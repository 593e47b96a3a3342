"""Enter grades in nbgrader's gradebook, a batch at a time.

nbgrader makes an object for each score, and asks the database for each submission. What is new is
written as rows of its tables instead; what is there already is changed through its objects.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from sqlalchemy import insert

from grader.course.hand_in_time import as_time
from grader.judging.outcome import Outcome
from grader.recording.graded import Graded

NO_RESPONSE: Final = "No response."
TABLES: Final = (SubmittedAssignment, SubmittedNotebook, Grade, Comment)
Row = dict[str, Any]
Cells = tuple[Collection[Any], Collection[Any]]  # of a notebook: those with scores, and answers


def enter(gradebook: Gradebook, batch: Sequence[Graded]) -> None:
    """Enter a batch of submissions; who calls it begins the transaction and ends it."""
    _enter_students(gradebook, {graded.student for graded in batch})
    for lesson in sorted({graded.lesson.name for graded in batch}):
        of_lesson = {graded.student: graded for graded in batch if graded.lesson.name == lesson}
        known = _who_submitted(gradebook, lesson)
        _add(gradebook, lesson, [g for student, g in of_lesson.items() if student not in known])
        for student in sorted(known & of_lesson.keys()):
            _change(gradebook, of_lesson[student])


def _enter_students(gradebook: Gradebook, students: set[str]) -> None:
    """Enter those that the gradebook does not know; to ask for each takes as long as its scores."""
    known = {student for (student,) in gradebook.db.query(Student.id)}
    for student in sorted(students - known):
        gradebook.add_student(student)


def _who_submitted(gradebook: Gradebook, lesson: str) -> set[str]:
    """Return the students of whom the gradebook has a submission of a lesson."""
    found = (
        gradebook.db.query(SubmittedAssignment.student_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == lesson)
    )
    return {student for (student,) in found}


def _add(gradebook: Gradebook, lesson: str, new: Sequence[Graded]) -> None:
    """Add submissions that the gradebook does not have."""
    assignment = gradebook.find_assignment(lesson)
    notebooks = {book.id: (book.grade_cells, book.solution_cells) for book in assignment.notebooks}
    rows = [_rows(assignment.id, notebooks, graded) for graded in new]
    for number, model in enumerate(TABLES):
        if some := [row for of_submission in rows for row in of_submission[number]]:
            gradebook.db.execute(insert(model.__table__), some)


def _rows(
    assignment: str,
    notebooks: Mapping[str, tuple[Collection[Any], Collection[Any]]],
    graded: Graded,
) -> tuple[list[Row], ...]:
    """Return a submission's rows, a list for each of the tables."""
    submission, books, grades, comments = new_uuid(), [], [], []
    scores, said = _scores(graded.outcome), _comments(graded.outcome)
    for notebook, (graded_cells, solved_cells) in notebooks.items():
        book = new_uuid()
        books.append({"id": book, "assignment_id": submission, "notebook_id": notebook})
        for cell in graded_cells:
            score = scores[cell.name]
            of_cell = {"notebook_id": book, "cell_id": cell.id, "auto_score": score}
            grades.append({**of_cell, "needs_manual_grade": score is None})
        for cell in solved_cells:
            said_of_it = said.get(cell.name)
            comments.append({"notebook_id": book, "cell_id": cell.id, "auto_comment": said_of_it})
    when = _when(graded)
    whose = {"assignment_id": assignment, "student_id": graded.student, "timestamp": when}
    return [{"id": submission, **whose}], books, grades, comments


def _change(gradebook: Gradebook, graded: Graded) -> None:
    """Change a submission that the gradebook has."""
    is_told = graded.timestamp and graded.outcome.score is not None
    when = {"timestamp": _when(graded)} if is_told else {}
    submission = gradebook.update_or_create_submission(graded.lesson.name, graded.student, **when)
    scores, said = _scores(graded.outcome), _comments(graded.outcome)
    for notebook in submission.notebooks:
        _complete(gradebook, notebook)
        for grade in notebook.grades:
            grade.auto_score = scores[grade.cell.name]
            by_hand = grade.manual_score is not None
            grade.needs_manual_grade = grade.auto_score is None or by_hand
        for comment in notebook.comments:
            comment.auto_comment = said.get(comment.cell.name)


def _when(graded: Graded) -> datetime | None:
    """Return a time as the gradebook keeps it: in UTC, without saying so."""
    told = as_time(graded.timestamp)
    return told and told.replace(tzinfo=None)


def _complete(gradebook: Gradebook, submitted: Any) -> None:
    """Add the rows of cells that a submission lacks: somebody removed them."""
    cells = submitted.notebook.grade_cells, submitted.notebook.solution_cells
    for kind, rows, of_lesson in zip(
        (Grade, Comment), (submitted.grades, submitted.comments), cells, strict=True
    ):
        known = {row.cell_id for row in rows}
        missing = [kind(cell=cell) for cell in of_lesson if cell.id not in known]
        rows.extend(missing)
        gradebook.db.add_all(missing)


def _scores(outcome: Outcome) -> dict[str, float | None]:
    """Return the score of each test's cell; None for all if the grader failed."""
    failed = outcome.score is None
    return {f"test_{r.exercise}": None if failed else r.score for r in outcome.results}


def _comments(outcome: Outcome) -> dict[str, str]:
    """Return what to say of an exercise's cell where nothing was written."""
    stubs = (r.exercise for r in outcome.results if r.verdict and r.verdict.is_stub)
    return dict.fromkeys(stubs, NO_RESPONSE)
