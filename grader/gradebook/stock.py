"""Grading by nbgrader's own autograde: one kernel per submission, in nbgrader's own way."""

import warnings

from nbgrader.converters import Autograde
from sqlalchemy.exc import SAWarning
from tqdm import tqdm

from grader.errors import CourseError
from grader.gradebook.course import GradingCourse, run_converter


def autograde(course: GradingCourse, submissions: list[tuple[str, str]]) -> list[str]:
    """Grade submissions one after another.

    Args:
        course: where they are.
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
