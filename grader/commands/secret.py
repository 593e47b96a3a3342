"""`python -m grader secret`: make the secret that varies a class's hidden cases."""

import argparse
import os
import secrets
from pathlib import Path
from typing import Final

from grader.authoring.files import find_root
from grader.course.course import GradingCourse
from grader.course.private import write_private
from grader.course.secret import FILE, VARIABLE
from grader.errors import PROGRAM, CourseError
from grader.gradebook.lock import only_grader

BYTES: Final = 32
MADE: Final = (
    f"{FILE} holds the class's secret. Keep it all term, show it to nobody, and give every "
    "instructor's clone the same one."
)
FOR_GRADES: Final = (
    "The next make grade judges all that is graded anew, with other hidden cases, and says who "
    "gained and who lost. Scores and comments by hand stay. Until then grades are those of the "
    "secret before."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--replace", action="store_true", help="make another: this one leaked")
    parser.epilog = f"It is drawn by chance, and {FILE} is yours alone. --replace: {FOR_GRADES}"


def run(arguments: argparse.Namespace) -> int:
    """Write a secret, say what follows from it, and return the exit code."""
    if os.environ.get(VARIABLE, "").strip():
        raise CourseError(
            f"{VARIABLE} is set, and comes before {FILE}. Unset it (unset {VARIABLE}), then run "
            "the same command."
        )
    root = find_root(Path.cwd())
    file = root / FILE
    with only_grader(root, GradingCourse(root, root).db_url):
        known = os.path.lexists(file)
        if known and not arguments.replace:
            raise CourseError(
                f"{FILE} is there already, and stays. If it leaked, or is none that chance drew: "
                f"{PROGRAM} secret --replace"
            )
        write_private(file, f"{secrets.token_hex(BYTES)}\n")
    print("\n".join([MADE, FOR_GRADES] if known else [MADE]))
    return 0
