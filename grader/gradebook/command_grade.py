"""`python -m grader grade`: collect, grade, write feedback, show the gradebook."""

import argparse
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from grader.build.files import find_root
from grader.engine.command import add_engine_arguments, run_engine
from grader.gradebook import stock
from grader.gradebook.course import GradingCourse, run_converter
from grader.gradebook.feedback import without_page, write_feedback
from grader.gradebook.report import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--regrade", action="store_true", help="grade again what is graded already")
    parser.add_argument(
        "--engine",
        choices=("fast", "nbgrader"),
        default="fast",
        help="fast: isolated, judged apart; nbgrader: its own autograde, slower and less safe",
    )
    add_engine_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Grade what is new, and return the exit code."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    collect(course)
    submissions = course.submitted()
    if not submissions:
        print(
            "Nothing has been submitted yet. To see grading at work on a made-up class: make demo"
        )
        return 0
    return grade(course, submissions, arguments)


def collect(course: GradingCourse) -> None:
    """Fetch what students submitted through the exchange into submitted/."""
    for lesson in course.lessons:
        config = course.converter_config(lesson.name)
        inbound = Path(config.Exchange.root) / config.CourseDirectory.course_id / "inbound"
        if list(inbound.glob(f"*+{lesson.name}+*")):
            collector = ExchangeFactory(config=config).Collect(
                coursedir=CourseDirectory(config=config),
                authenticator=Authenticator(config=config),
                config=config,
            )
            collector.update = True
            run_converter(collector, f"what was submitted for {lesson.name} could not be collected")


def ungraded(course: GradingCourse, submissions: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those whose graded copy is missing or older than what was submitted."""
    return [(s, n) for s, n in submissions if not _is_current(course.folder, s, n)]


def _is_current(folder: Path, student: str, lesson: str) -> bool:
    sent, graded = (folder / step / student / lesson for step in ("submitted", "autograded"))
    stamps = [path / "timestamp.txt" for path in (sent, graded)]
    if all(stamp.is_file() for stamp in stamps):
        return stamps[0].read_text() == stamps[1].read_text()
    newest = max((p.stat().st_mtime for p in sent.rglob("*")), default=0.0)
    notebook = graded / f"{lesson}.ipynb"
    return notebook.is_file() and notebook.stat().st_mtime >= newest


def grade(
    course: GradingCourse, submissions: list[tuple[str, str]], arguments: argparse.Namespace
) -> int:
    """Grade, print the gradebook, write feedback; 1 when a submission could not be graded.

    Raises:
        CourseError: also where pages could not be written; all else is done and printed by then.
    """
    if arguments.engine == "nbgrader":
        done, failures = _by_nbgrader(course, submissions, arguments)
    else:
        outcomes = run_engine(course, submissions, arguments)
        done = list(outcomes)
        failures = [f"{s}'s {n}: grader error" for (s, n), o in outcomes.items() if o.score is None]
    print(f"Graded {len(done)} submissions.\n\n{table(course)}\n")
    print(f"Feedback pages: {course.feedback}")
    for failure in failures:
        print(f"\n{failure}")
    write_feedback(course, without_page(course, submissions))
    return 1 if failures else 0


def _by_nbgrader(
    course: GradingCourse, submissions: list[tuple[str, str]], arguments: argparse.Namespace
) -> tuple[list[tuple[str, str]], list[str]]:
    waiting = submissions if arguments.regrade else ungraded(course, submissions)
    for lesson in course.lessons:
        if any(name == lesson.name for _, name in waiting):
            course.record(lesson)
    return waiting, stock.autograde(course, waiting)
