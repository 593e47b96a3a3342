"""Feedback pages, and the mistakes that verdicts named."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nbgrader.converters import GenerateFeedback

from grader.gradebook.course import GradingCourse, run_converter
from utils.checks.verdict import MIME


@dataclass(frozen=True)
class Named:
    """A known mistake that a verdict named."""

    student: str
    lesson: str
    exercise: str
    mistake: str
    says: str


def write_feedback(course: GradingCourse, submissions: list[tuple[str, str]]) -> None:
    """Write a page for each graded submission."""
    for student, lesson in submissions:
        if (course.folder / "autograded" / student / lesson).is_dir():
            converter = course.converter(GenerateFeedback, lesson, student)
            run_converter(converter, f"no feedback could be written for {student}'s {lesson}")


def named_mistakes(course: GradingCourse, student: str, lesson: str) -> list[Named]:
    """The mistakes named in a graded notebook, in its order."""
    return [
        Named(student, lesson, data["exercise"], data["mistake"]["name"], data["mistake"]["says"])
        for data in _verdicts(course, student, lesson)
        if data["mistake"]
    ]


def _verdicts(course: GradingCourse, student: str, lesson: str) -> Iterator[dict[str, Any]]:
    path = course.folder / "autograded" / student / lesson / f"{lesson}.ipynb"
    if not path.is_file():
        return
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            outputs = [output.get("data", {}) for output in cell.get("outputs", [])]
            yield from [data[MIME] for data in outputs if MIME in data]
