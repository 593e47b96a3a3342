"""Feedback pages, by nbgrader."""

from nbgrader.converters import GenerateFeedback

from grader.gradebook.course import GradingCourse, run_converter


def write_feedback(course: GradingCourse, submissions: list[tuple[str, str]]) -> None:
    """Write a page for each graded submission."""
    for student, lesson in submissions:
        if (course.folder / "autograded" / student / lesson).is_dir():
            converter = course.converter(GenerateFeedback, lesson, student)
            run_converter(converter, f"no feedback could be written for {student}'s {lesson}")
