"""Write outcomes where nbgrader keeps them: autograded/ and the gradebook, a batch at a time.

A submission counts as graded when both hold it. Files are written first and whole, each marked as
not entered, then the gradebook in one transaction, then the marks are removed; after an
interruption, what either lacks is graded again, and nothing can be there twice.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader.api import InvalidEntry
from sqlalchemy.exc import SQLAlchemyError

from grader.course.beside import SECRET, STAMP, VERDICT
from grader.course.course import GradingCourse
from grader.course.graded_copies import NOT_ENTERED, fingerprint, read_copy
from grader.errors import CourseError
from grader.judging.outcome import grader_failed
from grader.recording.entering import enter
from grader.recording.first_tries import first_tries
from grader.recording.graded import Graded
from grader.recording.graded_notebook import graded_notebook
from grader.recording.verdict_file import verdict_file


def record(course: GradingCourse, batch: Sequence[Graded]) -> list[Graded]:
    """Write a batch: every graded copy, then the gradebook in one transaction.

    Returns:
        The batch as it is recorded: a copy that cannot be made is a grader error.

    Raises:
        CourseError: the disk or the database refuses; nothing of the batch is half written.

    """
    try:
        written = [_written(course.folder, graded) for graded in batch]
        with course.transaction() as gradebook:
            enter(gradebook, written)
        for graded in written:
            (_home(course.folder, graded.student, graded.lesson.name) / NOT_ENTERED).unlink()
    except OSError as error:
        raise CourseError(_refusal("autograded/", error)) from None
    except (SQLAlchemyError, InvalidEntry) as error:  # of what SQLAlchemy said nbgrader made a text
        reason = getattr(error, "orig", None) or error
        raise CourseError(_refusal("the gradebook", reason)) from None
    return written


def _refusal(what: str, error: BaseException) -> str:
    return (
        f"The grades could not be written: {what} refused ({error}). What was graded before is "
        "safe. Make room or close the program that holds the file, then run the same command."
    )


def _home(folder: Path, student: str, lesson: str) -> Path:
    return folder / "autograded" / student / lesson


def _written(folder: Path, graded: Graded) -> Graded:
    """Write a graded copy; one that cannot be made is a grader error of its student alone."""
    try:
        _write_copy(folder, graded)
    except OSError:  # the disk's: it would meet the others, too
        raise
    except Exception as error:  # whatever it is, it must not stop the others
        graded = replace(graded, outcome=grader_failed(graded.lesson, error))
        _write_copy(folder, replace(graded, data=b""))  # of the lesson alone
    return graded


def _write_copy(folder: Path, graded: Graded) -> None:
    """Write autograded/<student>/<lesson>/, replacing an earlier one in one step."""
    parent = folder / "autograded" / graded.student
    parent.mkdir(parents=True, exist_ok=True)
    name = graded.lesson.name
    fresh, old = parent / f".{name}.new", parent / f".{name}.old"
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir()
    about = _about(folder, graded)
    notebook = graded_notebook(graded.data, graded.lesson, graded.outcome, about)
    # Not by nbformat, whose validation takes longer than grading: we made every cell. In one line,
    # because only that is written by json's encoder in C.
    copy = json.dumps(notebook).encode()
    (fresh / f"{name}.ipynb").write_bytes(copy)
    about |= {"notebook": fingerprint(copy)}
    (fresh / VERDICT).write_bytes(verdict_file(graded.outcome, notebook, about))
    for file, text in ((STAMP, graded.timestamp), (SECRET, graded.secret)):
        if text:
            (fresh / file).write_text(text, encoding="utf-8")
    (fresh / NOT_ENTERED).touch()
    if (parent / name).exists():
        (parent / name).replace(old)
    fresh.replace(parent / name)
    shutil.rmtree(old, ignore_errors=True)


def _about(folder: Path, graded: Graded) -> dict[str, Any]:
    """Return what a graded copy says of itself; first tries come from the one before it."""
    before = read_copy(folder, graded.student, graded.lesson.name)
    given, tries = fingerprint(graded.data), before.first_tries if before is not None else {}
    return {
        "submission": given,
        "judged_by": dict(graded.judged_by),
        "first_tries": first_tries(tries, graded.outcome, given),
    }


def sweep(folder: Path) -> None:
    """Remove what an interrupted run left half written, and put back what it had moved aside."""
    for old in (folder / "autograded").glob("*/.*.old"):
        copy = old.with_name(old.name.removeprefix(".").removesuffix(".old"))
        if not copy.exists():  # no new one took its place, and only it knows the first tries
            old.replace(copy)
    halves = (folder / "autograded").glob("*/.*.new")
    for leftover in [*halves, *(folder / ".course").glob("jobs-*")]:
        shutil.rmtree(leftover, ignore_errors=True)
