"""Arguments that several verbs share, and what they choose: a mistyped name is told."""

import argparse
import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from grader.cluster.address import read_address
from grader.course.course import GradingCourse
from grader.errors import UsageError, verify_known
from grader.sandbox import Limits
from grader.usage import whole_number

LIMITS = {"wall": "wall_seconds", "cpu": "cpu_seconds", "memory": "memory_bytes"}


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Declare the choice of lessons and students."""
    parser.add_argument("lesson", nargs="*", help="for example 02_attention; all, if none is named")
    parser.add_argument(
        "--student",
        action="append",
        default=[],
        metavar="ID",
        help="only this student; may be given several times",
    )


def chosen_lessons(course: GradingCourse, names: Sequence[str]) -> list[str]:
    """Return the named lessons in the course's order, or all.

    Raises:
        UsageError: there is no such lesson; the message has the nearest name.

    """
    known = [lesson.name for lesson in course.lessons]
    for name in names:
        verify_known("lesson", name, known)
    return [name for name in known if name in (names or known)]


def chosen_submissions(
    course: GradingCourse, lessons: Collection[str], students: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the (student, lesson) of submitted/ in the lessons, of the students or of all.

    Raises:
        UsageError: a student is neither in submitted/ nor in the gradebook.

    """
    there = course.submitted()
    known = sorted({*course.students(), *(student for student, _ in there)}) if students else []
    for name in students:
        verify_known("student", name, known)
    return [(s, n) for s, n in there if n in lessons and s in (students or [s])]


def usual_jobs() -> int:
    """Return how many submissions to grade at once: while one waits, another has its processor."""
    return 1 + (os.cpu_count() or 1)


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the grading engine."""
    parser.add_argument(
        "--jobs",
        type=whole_number,
        default=usual_jobs(),
        metavar="N",
        help="how many are graded at once; by default one more than there are processors",
    )
    parser.add_argument(
        "--cluster",
        type=read_address,
        metavar="ADDRESS",
        help="grade on Dask's workers, not here: tls://host:port of a scheduler, or local:N",
    )
    parser.add_argument(
        "--limits",
        type=parse_limits,
        default="",
        metavar="NAME=N,...",
        help="wall=SECONDS,cpu=SECONDS,memory=MIB for each submission (60, 60, 2048)",
    )
    parser.add_argument(
        "--no-isolation",
        action="store_true",
        help="run submissions unisolated, where the machine cannot: only for your own work",
    )


def parse_limits(text: str) -> Limits:
    """Read "wall=20,memory=512".

    Raises:
        UsageError: a limit is unknown or not a whole number above zero.

    """
    changes: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in LIMITS or not (value.isascii() and value.isdigit()) or int(value) == 0:
            raise UsageError(
                f"--limits {part!r} is no limit. Write wall=60 or cpu=60 (seconds), or memory=2048 "
                "(MiB); several with commas between them."
            )
        changes[LIMITS[name]] = int(value) << 20 if name == "memory" else int(value)
    return replace(Limits(), **changes)
