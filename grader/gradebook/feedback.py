"""Feedback pages, by nbgrader."""

from nbgrader.converters import GenerateFeedback

from grader.errors import CourseError
from grader.gradebook.course import GradingCourse, run_converter


def without_page(
    course: GradingCourse, submissions: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Those whose graded copy has no page, or one older than itself."""
    return [(s, n) for s, n in submissions if not _is_current(course, s, n)]


def _is_current(course: GradingCourse, student: str, lesson: str) -> bool:
    page = course.feedback / student / lesson / f"{lesson}.html"
    graded = course.folder / "autograded" / student / lesson / f"{lesson}.ipynb"
    try:
        return page.stat().st_mtime >= graded.stat().st_mtime
    except OSError:
        return False


def write_feedback(course: GradingCourse, submissions: list[tuple[str, str]]) -> None:
    """Write a page for each graded submission.

    Raises:
        CourseError: behind the last page; says which ones could not be written, and why.
    """
    failures = []
    for student, lesson in submissions:
        if (course.folder / "autograded" / student / lesson).is_dir():
            converter = course.converter(GenerateFeedback, lesson, student)
            try:
                run_converter(converter, f"no feedback could be written for {student}'s {lesson}")
            except CourseError as error:
                failures.append(str(error))
    if failures:
        raise CourseError("\n\n".join(failures))
