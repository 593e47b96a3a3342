"""`python -m grader report`: pages on a class and on each student, from what is graded."""

import argparse
from pathlib import Path

from grader.authoring.files import find_root
from grader.authoring.lesson import lessons
from grader.course.course import GradingCourse
from grader.course.notices import not_in_roster
from grader.gradebook.lock import only_grader
from grader.pages.reports import write_reports


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", nargs="*", help="for example 02_attention; all, if none is named")
    parser.epilog = (
        "Writes report/class.html and a page for each student. They are for instructors: they hold "
        "names and code, and nothing in them is an accusation."
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the pages, say where they are, and return the exit code."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    with only_grader(course.folder, course.db_url):  # copies and scores must be of one moment
        book = course.book()
        page, unread = write_reports(course, lessons(root, arguments.lesson), book)
    for sentence in [*not_in_roster(course, book), *unread]:
        print(sentence)
    print(f"The class: {page}\nEach student: {page.parent / 'students'}")
    return 1 if unread else 0
