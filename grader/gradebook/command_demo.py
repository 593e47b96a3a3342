"""`python -m grader demo`: grade a made-up class of six in a folder of its own."""

import argparse
from pathlib import Path

from grader.build.files import find_root
from grader.gradebook import command_grade
from grader.gradebook.demo import demo_course, make_class


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: those of `grade`."""
    command_grade.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make the class, grade it, show the table."""
    course = demo_course(find_root(Path.cwd()))
    make_class(course)
    print(f"A made-up class of six, in {course.folder}: ada is right, dan hands in the stubs, the")
    print("others made well-known mistakes.")
    return command_grade.grade(course, course.submitted(), arguments)
