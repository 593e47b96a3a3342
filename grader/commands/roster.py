"""`python -m grader roster`: enter the class from a list, or show who is in it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from grader.authoring.files import find_root
from grader.course.course import GradingCourse
from grader.course.private import keep_private
from grader.course.safe_text import line
from grader.course.wording import plural
from grader.errors import PROGRAM
from grader.grading.lock import only_grader
from grader.lms.members import members
from grader.lms.roster import Student

MOST_SHOWN = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE.csv",
        help="the class; without it, who is known is shown",
    )
    parser.epilog = (
        "The list has a line of column names: student_id, name, email, canvas_user_id, "
        "sis_user_id, sis_login_id, moodle_id_number, moodle_participant, as far as you have them. "
        "Canvas's own gradebook and Moodle's list of participants serve too. A later list adds to "
        "and corrects an earlier one; nobody is taken out."
    )


def run(arguments: argparse.Namespace) -> int:
    """Enter who is in the list, show the class, and return the exit code."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    if arguments.file is None:
        found = members(course)
    else:
        with only_grader(course.folder, course.db_url):
            found = members(course, arguments.file)
    keep_private(course.folder)
    print("\n".join([*shown(found.students), *found.notes]))
    return 0


def shown(students: Sequence[Student]) -> list[str]:
    """Return the class as lines: how many, what is known of them, and the first of them."""
    if not students:
        return [f"Nobody is in the class yet. Give a list: {PROGRAM} roster class.csv"]
    canvas = sum(bool(s.canvas_user_id or s.sis_user_id or s.sis_login_id) for s in students)
    moodle = sum(bool(s.moodle_id_number or s.moodle_participant) for s in students)
    count = plural(len(students), "student")
    lines = [f"{count} in the class; with an id of Canvas {canvas}, of Moodle {moodle}."]
    width = max(len(line(student.id)) for student in students[:MOST_SHOWN])
    for student in students[:MOST_SHOWN]:
        name = line(" ".join(filter(None, student.names)))
        lines.append(f"  {line(student.id):<{width}}  {name}".rstrip())
    if (more := len(students) - MOST_SHOWN) > 0:
        lines.append(f"  and {more} more, in lms/roster.json and the gradebook")
    return lines
