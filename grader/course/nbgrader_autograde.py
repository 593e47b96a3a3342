"""Grade with nbgrader's own autograde: one kernel per submission."""

import warnings
from pathlib import Path

from nbgrader.converters import Autograde
from sqlalchemy.exc import SAWarning
from tqdm import tqdm

from grader.course.beside import STAMP
from grader.course.course import GradingCourse, run_converter
from grader.errors import CourseError


def is_current(folder: Path, student: str, lesson: str) -> bool:
    """Return whether the graded copy is of what is submitted now, by nbgrader's own signs."""
    sent, graded = (folder / step / student / lesson for step in ("submitted", "autograded"))
    stamps = [path / STAMP for path in (sent, graded)]
    if all(stamp.is_file() for stamp in stamps):
        return stamps[0].read_bytes() == stamps[1].read_bytes()
    newest = max((p.lstat().st_mtime for p in sent.rglob("*")), default=0.0)
    notebook = graded / f"{lesson}.ipynb"
    return notebook.is_file() and notebook.stat().st_mtime >= newest


def autograde(course: GradingCourse, submissions: list[tuple[str, str]]) -> list[str]:
    """Grade submissions one after another.

    Args:
        course: the course that they are in.
        submissions: (student, lesson) pairs.

    Returns:
        One message for each submission that nbgrader could not grade.

    """
    failures = []
    for student, lesson in tqdm(submissions, "grading", unit="submission", leave=False):
        converter = course.converter(Autograde, lesson, student)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # nbgrader's sessions, not our concern
                run_converter(converter, f"{student}'s {lesson} could not be graded")
        except CourseError as error:
            failures.append(str(error))
    return failures
