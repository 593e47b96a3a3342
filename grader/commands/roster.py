"""`python -m grader roster`: enter the class from a list, or show who is in it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from grader.authoring.files import find_root
from grader.course.course import GradingCourse
from grader.course.private import keep_private
from grader.course.roster_file import Student
from grader.course.safe_text import line
from grader.course.wording import plural
from grader.errors import PROGRAM, UsageError
from grader.gradebook.lock import only_grader
from grader.lms.corrections import rename, take_out
from grader.lms.members import members

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
    parser.add_argument(
        "--out",
        action="append",
        default=[],
        metavar="ID",
        help="this student left: in no export, and not missed; the work stays; repeatable",
    )
    parser.add_argument(
        "--with-work", action="store_true", help="with --out: remove the hand-ins and grades, too"
    )
    parser.add_argument(
        "--rename",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="both ids are one student's, who has the new one from now on; the work goes along",
    )
    parser.epilog = (
        "The list has a line of column names: student_id, name, email, canvas_user_id, "
        "sis_user_id, sis_login_id, moodle_id_number, moodle_participant, github_username, as far "
        "as you have them. Canvas's own gradebook, Moodle's list of participants and GitHub "
        "Classroom's roster serve too. A later list adds to and corrects an earlier one; only "
        "--out takes somebody out."
    )


def run(arguments: argparse.Namespace) -> int:
    """Enter who is in the list, correct it, show the class, and return the exit code."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    pairs = [_pair(text) for text in arguments.rename]
    if arguments.with_work and not arguments.out:
        raise UsageError("--with-work says what becomes of whom --out takes out: give --out ID.")
    told = []
    if arguments.file is None and not pairs and not arguments.out:
        found = members(course)
    else:
        with only_grader(course.folder, course.db_url):
            told += [rename(course, old, new) for old, new in pairs]
            with_work = arguments.with_work
            told += [take_out(course, student, with_work=with_work) for student in arguments.out]
            found = members(course, arguments.file)
    keep_private(course.folder)
    print("\n".join([*told, *shown(found.students), *found.notes]))
    return 0


def _pair(text: str) -> tuple[str, str]:
    old, _, new = text.partition("=")
    if not old or not new:
        raise UsageError(f"--rename {line(text)}: write OLD=NEW, such as --rename ADA=ada.")
    return old, new


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
