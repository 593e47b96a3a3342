"""`python -m grader demo`: grade a made-up class of six in a folder of its own."""

import argparse
from pathlib import Path

from grader.build.files import find_root
from grader.gradebook.command_grade import grade
from grader.gradebook.demo import demo_course, make_class


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: none."""


def run(_arguments: argparse.Namespace) -> int:
    """Make the class, grade it, show the table."""
    course = demo_course(find_root(Path.cwd()))
    make_class(course)
    print(f"A made-up class of six, in {course.folder}: ada is right, dan hands in the stubs, the")
    print("others made well-known mistakes.")
    return grade(course, course.submitted())
