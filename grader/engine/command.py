"""`python -m grader autograde`: grade submissions fast and isolated."""

import argparse
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.build.files import find_root
from grader.engine.autograde import Submission, autograde
from grader.engine.outcome import Outcome
from grader.errors import CourseError
from grader.gradebook.course import GradingCourse
from grader.isolation import CannotIsolate, Limits

LIMITS = {"wall": "wall_seconds", "cpu": "cpu_seconds", "memory": "memory_bytes"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", nargs="*", help="for example 02_attention; all, if none is named")
    parser.add_argument("--student", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--regrade", action="store_true", help="grade again what is graded already")
    add_engine_arguments(parser)


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that `grade` shares."""
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="graded at once")
    parser.add_argument(
        "--limits",
        default="",
        metavar="NAME=N,...",
        help="wall=SECONDS,cpu=SECONDS,memory=MIB for each submission (60, 60, 2048)",
    )
    parser.add_argument(
        "--no-isolation",
        action="store_true",
        help="run submissions unisolated, where the machine cannot: only for your own work",
    )


def run(arguments: argparse.Namespace) -> int:
    """Grade, and say how many came to what."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    chosen = [
        (student, lesson)
        for student, lesson in course.submitted()
        if lesson in (arguments.lesson or [lesson]) and student in (arguments.student or [student])
    ]
    outcomes = run_engine(course, chosen, arguments)
    counts = Counter(outcome.status for outcome in outcomes.values())
    told = ", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing new"
    print(f"{len(chosen)} submissions: {told}.")
    return 1 if counts["grader error"] else 0


def run_engine(
    course: GradingCourse, submissions: list[Submission], arguments: argparse.Namespace
) -> dict[Submission, Outcome]:
    """Grade submissions as the arguments say; what was graded now.

    Raises:
        CourseError: also where the machine cannot isolate.
    """
    for name in course.left_out():
        print(f"submitted/{name} is left out: its name is not UTF-8. Rename it and grade again.")
    try:
        return autograde(
            course,
            submissions,
            n_jobs=max(1, arguments.jobs),
            limits=parse_limits(arguments.limits),
            isolate=not arguments.no_isolation,
            regrade=arguments.regrade,
        )
    except CannotIsolate as error:
        raise CourseError(str(error)) from None


def parse_limits(text: str) -> Limits:
    """Read "wall=20,memory=512".

    Raises:
        CourseError: a limit is not known or not a number above zero.
    """
    changes: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in LIMITS or not value.isdigit() or int(value) == 0:
            raise CourseError(f"--limits {part}: write wall=60, cpu=60 or memory=2048 (MiB)")
        changes[LIMITS[name]] = int(value) << 20 if name == "memory" else int(value)
    return replace(Limits(), **changes)
