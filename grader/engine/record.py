"""Write outcomes where nbgrader keeps them: autograded/ and the gradebook, a batch at a time.

A submission counts as graded when both hold it. Files are written first and whole, the gradebook
in one transaction behind them; after an interruption, what one of the two lacks is graded anew,
and nothing can be there twice.
"""

import hashlib
import json
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nbgrader.api import Gradebook
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from grader.build.lesson import Lesson
from grader.engine.graded_notebook import graded_notebook
from grader.engine.outcome import Outcome
from grader.errors import CourseError
from grader.gradebook.copies import read_copy
from grader.gradebook.course import GradingCourse

NO_RESPONSE: Final = "No response."


@dataclass(frozen=True)
class Graded:
    """A submission and what came of it."""

    student: str
    lesson: Lesson
    data: bytes
    outcome: Outcome
    timestamp: str


def fingerprint(data: bytes) -> str:
    """Identify a submission by its content."""
    return hashlib.sha256(data).hexdigest()


def record(course: GradingCourse, batch: Sequence[Graded]) -> None:
    """Write a batch: every graded copy, then the gradebook in one transaction.

    Raises:
        CourseError: disk or database refuse; nothing of the batch is half written.
    """
    try:
        for graded in batch:
            _write_copy(course.folder, graded)
        with _one_transaction(course) as gradebook:
            for graded in batch:
                _enter(gradebook, graded)
    except OSError as error:
        raise CourseError(_refusal("autograded/", error)) from None
    except SQLAlchemyError as error:
        reason = getattr(error, "orig", None) or error
        raise CourseError(_refusal("the gradebook", reason)) from None


def _refusal(what: str, error: BaseException) -> str:
    return (
        f"The grades could not be written: {what} refused ({error}). What was graded before is "
        "safe. Make room or close the program that holds the file, then run the same command."
    )


def _write_copy(folder: Path, graded: Graded) -> None:
    """Write autograded/<student>/<lesson>/, replacing an earlier one in one step."""
    parent = folder / "autograded" / graded.student
    parent.mkdir(parents=True, exist_ok=True)
    name = graded.lesson.name
    fresh, old = parent / f".{name}.new", parent / f".{name}.old"
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir()
    notebook = graded_notebook(graded.data, graded.lesson, graded.outcome, fingerprint(graded.data))
    # Not by nbformat, whose validation takes longer than grading: every cell was made by it.
    (fresh / f"{name}.ipynb").write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    if graded.timestamp:
        (fresh / "timestamp.txt").write_text(graded.timestamp, encoding="utf-8")
    if (parent / name).exists():
        (parent / name).replace(old)
    fresh.replace(parent / name)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _one_transaction(course: GradingCourse) -> Iterator[Gradebook]:
    """Nbgrader's gradebook, with its many commits held back for one at the end."""
    with course.gradebook() as gradebook, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's own relations warn
        commit, gradebook.db.commit = gradebook.db.commit, gradebook.db.flush
        try:
            yield gradebook
            commit()
        except BaseException:
            gradebook.db.rollback()
            raise
        finally:
            gradebook.db.commit = commit


def _enter(gradebook: Gradebook, graded: Graded) -> None:
    when = {"timestamp": graded.timestamp} if graded.timestamp else {}
    gradebook.update_or_create_student(graded.student)
    submission = gradebook.update_or_create_submission(graded.lesson.name, graded.student, **when)
    results = {f"test_{r.exercise}": r for r in graded.outcome.results}
    failed = graded.outcome.score is None
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            grade.auto_score = None if failed else results[grade.cell.name].score
            grade.needs_manual_grade = failed or grade.manual_score is not None
        stubs = {r.exercise for r in graded.outcome.results if r.verdict and r.verdict.is_stub}
        for comment in notebook.comments:
            comment.auto_comment = NO_RESPONSE if comment.cell.name in stubs else None


def recorded(course: GradingCourse, student: str, lesson: str) -> str:
    """The fingerprint of what was graded; nothing where there is no copy or the grader failed."""
    copy = read_copy(course.folder, student, lesson)
    return copy.submission if copy is not None and copy.status != "grader error" else ""


def in_gradebook(course: GradingCourse) -> set[tuple[str, str]]:
    """(student, lesson) of every submission whose scores the gradebook holds."""
    with course.gradebook() as gradebook:
        return {
            (submission.student.id, submission.assignment.name)
            for assignment in gradebook.assignments
            for submission in assignment.submissions
            if _has_scores(submission)
        }


def _has_scores(submission: Any) -> bool:
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    return bool(grades) and all(grade.auto_score is not None for grade in grades)


def sweep(folder: Path) -> None:
    """Remove what an interrupted run left half written."""
    halves = (folder / "autograded").glob("*/.*.new")
    for leftover in [*halves, *(folder / ".course").glob("jobs-*")]:
        shutil.rmtree(leftover, ignore_errors=True)
