"""`python -m grader autograde`: grade submissions fast and isolated."""

import argparse
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Final

from grader.authoring.files import find_root
from grader.commands.arguments import (
    add_choice,
    add_engine_arguments,
    chosen_lessons,
    chosen_submissions,
)
from grader.course.course import LONGEST_ID, GradingCourse
from grader.course.wording import plural
from grader.errors import CourseError
from grader.grading.batch import Run, autograde
from grader.grading.waiting import Submission
from grader.judging.engine import Engine, ThisMachine
from grader.judging.outcome import Status
from grader.sandbox import CannotIsolate
from grader.workers.results import NotStarted

NOT_INSTALLED: Final = (
    "Grading on a cluster needs {missing}, which is not installed. Run .venv/bin/python -m pip "
    "install -c constraints.txt -e '.[grader,cluster]', then the same command."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_choice(parser)
    parser.add_argument("--regrade", action="store_true", help="grade again what is graded already")
    add_engine_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Grade, and print how many submissions got which status."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    lessons = chosen_lessons(course, arguments.lesson)
    chosen = chosen_submissions(course, lessons, arguments.student)
    outcomes = run_engine(course, chosen, arguments).outcomes
    counts = Counter(outcome.status for outcome in outcomes.values())
    told = ", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing new"
    print(f"{plural(len(chosen), 'submission')}: {told}.")
    return 1 if counts[Status.GRADER_ERROR] else 0


def unisolated(option: str) -> str:
    """Return the warning for an option with which students' code runs as the instructor."""
    return (
        f"Warning: {option} runs submissions with your own rights: they can read and change all "
        "that you can. Use it only for work that you trust as your own."
    )


def engine_of(course: GradingCourse, arguments: argparse.Namespace) -> Engine:
    """Return where submissions are graded: on this machine, or on a cluster.

    Raises:
        CourseError: what a cluster needs is not installed.

    """
    limits, isolate = arguments.limits, not arguments.no_isolation
    if arguments.cluster is None:
        return ThisMachine(arguments.jobs, limits, isolate)
    try:
        _, cluster = map(import_module, ("cryptography", "grader.cluster.engine"))
    except ModuleNotFoundError as error:
        raise CourseError(NOT_INSTALLED.format(missing=error.name)) from None
    engine: Engine = cluster.Cluster(arguments.cluster, limits, isolate, course.root)
    return engine


def run_engine(
    course: GradingCourse, submissions: list[Submission], arguments: argparse.Namespace
) -> Run:
    """Grade submissions as the arguments say.

    Raises:
        CourseError: also if the machine cannot isolate, or no grading process starts.

    """
    for name in course.left_out():
        print(
            f"submitted/{name} is left out: its name is not UTF-8, or longer than {LONGEST_ID} "
            "characters. Rename it and grade again."
        )
    if arguments.no_isolation:
        print(unisolated("--no-isolation"), file=sys.stderr)
    try:
        return autograde(
            course,
            submissions,
            engine=engine_of(course, arguments),
            regrade=arguments.regrade,
        )
    except (CannotIsolate, NotStarted) as error:
        raise CourseError(str(error)) from None
