"""Grade with nbgrader's own autograde: one kernel per submission."""

import warnings
from contextlib import suppress
from pathlib import Path

from nbgrader.converters import Autograde
from sqlalchemy.exc import SAWarning
from tqdm import tqdm

from grader.course.beside import STAMP
from grader.course.course import GradingCourse, run_converter
from grader.errors import CourseError
from grader.regular_file import Unreadable, opened


def is_current(folder: Path, student: str, lesson: str) -> bool:
    """Return whether the graded copy is of what is submitted now, by nbgrader's own signs.

    What cannot be looked at is not known to be: grading meets it again, and tells it.
    """
    with suppress(OSError):
        return _is_current(folder, student, lesson)
    return False


def _is_current(folder: Path, student: str, lesson: str) -> bool:
    sent, graded = (folder / step / student / lesson for step in ("submitted", "autograded"))
    stamps = [path / STAMP for path in (sent, graded)]
    if all(stamp.is_file() for stamp in stamps):
        return stamps[0].read_bytes() == stamps[1].read_bytes()
    given, made = (path / f"{lesson}.ipynb" for path in (sent, graded))
    return made.is_file() and made.stat().st_mtime >= given.lstat().st_mtime


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
        failure = f"{student}'s {lesson} could not be graded"
        try:
            with opened(course.folder / "submitted" / student / lesson / f"{lesson}.ipynb"):
                pass  # nbgrader would tell in a traceback that it cannot be read
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # nbgrader's sessions, not our concern
                run_converter(converter, failure)
        except Unreadable as error:
            failures.append(f"{failure}: {error}, then grade again.")
        except CourseError as error:
            failures.append(str(error))
    return failures
