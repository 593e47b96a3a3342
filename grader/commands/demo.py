"""`python -m grader demo`: grade a made-up class of six in a separate folder."""

import argparse
from pathlib import Path

from grader.authoring.files import find_root
from grader.commands import grade
from grader.course.sample_class import demo_course, make_class


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: those of the engine."""
    grade.add_engine(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make the class, grade it and show the table."""
    course = demo_course(find_root(Path.cwd()))
    make_class(course)
    print(f"A made-up class of six, in {course.folder}: ada is right, dan hands in the stubs, the")
    print("others made well-known mistakes.")
    return grade.grade(course, course.submitted(), arguments, show_table=True)
