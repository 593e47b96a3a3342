"""`python -m grader demo`: grade a made-up class of six in a separate folder."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grader.authoring.files import find_root
from grader.authoring.sample_class import make_class
from grader.commands import grade
from grader.course.course import GradingCourse
from grader.gradebook.lock import only_grader
from grader.pages.reports import write_reports

LOOK_AT: Final = (  # student, exercise, what the feedback page shows there
    ("eve", "causal_mask", "a mistake that is named, with a picture of it"),
    ("finn", "scaled_dot_product_attention", "some cases right, so some of the points"),
    ("dan", "split_heads", "what is said of work that is not begun"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: those of the engine."""
    grade.add_engine(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make the class, grade it, and say what is worth a look."""
    course = demo_course(find_root(Path.cwd()))
    make_class(course.folder, course.lessons)
    print(f"A made-up class of six, in {course.folder}: ada is right, dan hands in the stubs, the")
    print("others made well-known mistakes.")
    status = grade.grade(course, course.submitted(), arguments)
    with only_grader(course.folder, course.db_url):
        page, _ = write_reports(course, course.lessons, course.book())
    print("What to look at (open a page in a browser):")
    for path, what in (*_pages(course), (page, "the class: what was hard, and who needs help")):
        print(f"  {path}\n    {what}")
    return status


def demo_course(root: Path) -> GradingCourse:
    """Return the demo's course: this course's lessons, in a separate folder."""
    return GradingCourse(root, root / ".course" / "demo")


def _pages(course: GradingCourse) -> Iterator[tuple[Path, str]]:
    """Yield feedback pages that show what students read, and what is on each."""
    for student, exercise, what in LOOK_AT:
        for lesson in course.lessons:
            if exercise in [e.id for e in lesson.exercises]:
                yield course.page(student, lesson.name), f"{student}, {exercise}: {what}"
