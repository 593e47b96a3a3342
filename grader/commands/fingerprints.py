"""`python -m grader fingerprints`: make machine-made mistakes, for the checks to know again."""

import argparse
from pathlib import Path

from grader.authoring.files import find_root
from grader.authoring.lesson import Lesson, lessons
from grader.mutation.fingerprint_files import (
    fingerprints,
    stamp,
    with_bank,
    with_fingerprints,
)
from utils.checks.framework.fingerprint_file import read, write
from utils.checks.framework.fingerprints import Fingerprints
from utils.checks.registry import exercises


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", nargs="*", help="for example 02_attention; all, if none is named")
    parser.add_argument("--force", action="store_true", help="make those anew that are up to date")


def run(arguments: argparse.Namespace) -> int:
    """Make what is out of date, and return 0."""
    root = find_root(Path.cwd())
    for lesson in lessons(root, arguments.lesson):
        chosen = list(with_fingerprints(lesson))
        path = exercises()[chosen[0].id].fingerprints
        assert path is not None
        known = read(path)
        made = _renewed(lesson, known, root, force=arguments.force)
        write(path, made)
        print(
            f"{lesson.name}: {sum(len(f.mistakes) for f in made.values())} fingerprints of one, "
            f"{sum(len(f.pairs) for f in made.values())} of two mistakes"
        )
    return 0


def _renewed(
    lesson: Lesson, known: dict[str, Fingerprints], root: Path, *, force: bool
) -> dict[str, Fingerprints]:
    made = {}
    for exercise in with_fingerprints(lesson):
        old = known.get(exercise.id)
        if force or old is None or old.stamp != stamp(exercise):
            print(f"{lesson.name}: {exercise.id} ...", flush=True)
            old = fingerprints(lesson, exercise, root)
        made[exercise.id] = with_bank(old, exercise)
    return made
