"""`python -m grader gradebook`: copy the gradebook, or move it to a server and back."""

import argparse
import sqlite3
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from grader.authoring.files import find_root
from grader.course.course import GradingCourse
from grader.course.wording import plural
from grader.errors import CourseError, UsageError
from grader.gradebook.address import has_password, shown
from grader.gradebook.database import absolute
from grader.gradebook.lock import only_grader
from grader.gradebook.moving import move
from grader.gradebook.snapshots import snapshot

NONE_YET: Final = "There is no gradebook yet. Run make grade, or enter a roster, first."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("move", "backup"),
        help="without it, the gradebook's address is shown",
    )
    parser.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="of move: the other database's address; of backup: a file (./gradebook-backup.db)",
    )
    parser.epilog = (
        "move copies every row into an empty database, postgresql://NAME@HOST/DATABASE or "
        "sqlite:////FOLDER/FILE, and reads it back; what was there stays as it is. backup works "
        "while others grade. Passwords belong in ~/.pgpass."
    )


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked, say what was done, and return the exit code."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    if arguments.action == "move":
        print("\n".join(_moved(course, arguments.target)))
    elif arguments.action == "backup":
        print(_backed_up(course, Path(arguments.target or "gradebook-backup.db")))
    else:
        students = plural(len(course.students()), "student")
        print(f"The gradebook: {shown(course.db_url)}, {students}.")
    return 0


def _moved(course: GradingCourse, given: str | None) -> list[str]:
    """Move and return what was moved, as lines."""
    if given is None:
        raise UsageError("Say where to: gradebook move postgresql://NAME@HOST/DATABASE.")
    target = absolute(given, course.root)
    if has_password(target):
        raise UsageError(
            f"{shown(target)} holds a password, which others see on a command line. Write it into "
            "~/.pgpass (a line host:port:database:name:password, mode 600), and leave it out here."
        )
    with only_grader(course.folder, course.db_url), tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "gradebook.db"
        _take(course, copy)
        counts = move(copy, target)
    return _told(counts, course.db_url, target)


def _told(counts: Mapping[str, int], source: str, target: str) -> list[str]:
    return [
        f"Moved from {shown(source)} to {shown(target)}, and read back whole:",
        *(f"  {table:<22}{count:>8}" for table, count in counts.items()),
        "Now write into nbgrader_config.py:",
        f"c.CourseDirectory.db_url = {shown(target)!r}",
    ]


def _backed_up(course: GradingCourse, file: Path) -> str:
    if file.exists():
        raise UsageError(f"{file} is there already. Name a new file, then run the same command.")
    _take(course, file)
    return f"{file}: a copy of {shown(course.db_url)}, for its owner alone."


def _take(course: GradingCourse, file: Path) -> None:
    """Copy the gradebook as it is now into a file.

    Raises:
        CourseError: there is none yet, or another program holds its file.

    """
    try:
        if not snapshot(course.db_url, file):
            raise CourseError(NONE_YET)
    except sqlite3.Error as error:
        file.unlink(missing_ok=True)
        raise CourseError(
            f"The gradebook could not be copied ({error}). Close the program that holds it, then "
            "run the same command."
        ) from None
