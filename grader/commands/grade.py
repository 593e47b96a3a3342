"""`python -m grader grade`: collect, grade, write feedback, sum up."""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from grader.authoring.files import find_root
from grader.calendar.deadlines import due_dates
from grader.calendar.penalties import settle
from grader.commands.arguments import (
    add_choice,
    add_engine_arguments,
    chosen_lessons,
    chosen_submissions,
)
from grader.commands.autograde import run_engine, unisolated
from grader.course import nbgrader_autograde
from grader.course.course import GradingCourse, run_converter
from grader.course.hand_in_files import by_kind
from grader.course.notices import misplaced
from grader.course.report import summary, write_report
from grader.course.safe_text import line
from grader.course.wording import first_lines, plural
from grader.errors import PROGRAM, CourseError, UsageError
from grader.gradebook.address import sqlite_file
from grader.gradebook.lock import only_grader
from grader.grading import changes
from grader.grading.batch import Run
from grader.lms.storing import follow_due_dates
from grader.pages.feedback import without_page, write_feedback

FAILED: Final = "grader error, no score."
ON_PAGE: Final = "Its feedback page has the reason; run make grade again."
Submissions = list[tuple[str, str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_choice(parser)
    add_engine(parser)
    parser.epilog = (
        "Grades what is new, was submitted again, or is affected by a change of its lesson. Late "
        "penalties are set anew at every run. The gradebook is copied to gradebook-backups/ first."
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that `demo` shares."""
    parser.add_argument("--regrade", action="store_true", help="grade again what is graded already")
    parser.add_argument(
        "--engine",
        choices=("fast", "nbgrader"),
        default="fast",
        help="fast: isolated, judged apart; nbgrader: its own autograde, slower and not isolated, "
        "so it runs students' code with your own rights",
    )
    add_engine_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Grade what is new, and return the exit code.

    Raises:
        CourseError: also if the gradebook has hand-ins, and their folder none.

    """
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    lessons = chosen_lessons(course, arguments.lesson)
    with only_grader(course.folder, course.db_url):  # or another would grade what is half replaced
        collect(course, lessons)
        if course.submitted():
            follow_due_dates(course.folder, due_dates(course, course.book()))
    submissions = chosen_submissions(course, lessons, arguments.student)
    if not course.submitted():
        print(_where_hand_ins_go(course))
        for told in misplaced(course):
            print(told)
        return 0
    return grade(course, submissions, arguments)


def _where_hand_ins_go(course: GradingCourse) -> str:
    """Return where hand-ins are looked for, and how they get there.

    Raises:
        CourseError: the gradebook has hand-ins already, so their folder must have gone.

    """
    folder = course.folder / "submitted"
    file = sqlite_file(course.db_url)  # opening makes one
    is_there = file is None or file.exists()
    if count := len(course.book().records) if is_there else 0:
        state = "has none" if folder.is_dir() else "is missing"
        raise CourseError(
            f"The gradebook has {plural(count, 'hand-in')}, but the folder {folder} {state}. Put "
            "it back where it was, then run the same command."
        )
    lesson = next((lesson.name for lesson in course.lessons), "LESSON")
    return (
        f"Nothing has been submitted yet: no hand-in is in {folder}.\n"
        f"From Canvas or Moodle: {PROGRAM} collect canvas|moodle ZIP puts them there.\n"
        f"By hand: submitted/NAME/LESSON/LESSON.ipynb, such as submitted/ada/{lesson}/"
        f"{lesson}.ipynb.\n"
        "To see grading at work on a made-up class: make demo"
    )


def collect(course: GradingCourse, lessons: list[str]) -> None:
    """Fetch what students submitted through the exchange into submitted/."""
    names = _inbound(course)
    for lesson in lessons:
        config = course.converter_config(lesson)
        if any(f"+{lesson}+" in name for name in names):
            collector: Any = ExchangeFactory(config=config).Collect(
                coursedir=CourseDirectory(config=config),
                authenticator=Authenticator(config=config),
                config=config,
            )
            collector.update = True
            run_converter(
                collector,
                f"What was submitted for {lesson} could not be collected. Correct what is named "
                "below, then run the same command",
            )
            for alike in by_kind(collector.left_out):
                told = [f"Not collected from the exchange: {item}." for item in alike]
                print("\n".join(first_lines(told)))


def _inbound(course: GradingCourse) -> list[str]:
    """Return the names of all hand-ins in the exchange; tell it if they cannot be listed."""
    config = course.config
    folder = Path(config.Exchange.root) / config.CourseDirectory.course_id / "inbound"
    try:
        return [path.name for path in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):  # there is no exchange, or none was used yet
        return []
    except OSError as error:
        why = f"{line(str(folder))} cannot be listed ({error.strerror})"
        print(
            f"Nothing was collected from the exchange: {why}. Give yourself the right to read it."
        )
        return []


def grade(course: GradingCourse, submissions: Submissions, arguments: argparse.Namespace) -> int:
    """Grade, sum up, write feedback; return 1 if a submission could not be graded.

    Args:
        course: the course that the submissions are in.
        submissions: (student, lesson) pairs.
        arguments: those of the engine.

    Raises:
        CourseError: also if pages could not be written; all else is done and printed by then.

    """
    if arguments.engine == "nbgrader":
        if arguments.cluster is not None:
            raise UsageError("nbgrader's own engine grades on this machine: leave out --cluster.")
        print(unisolated("--engine nbgrader"), file=sys.stderr)
        done, failures = _by_nbgrader(course, submissions, arguments)
        told, n_left = [], 0
    else:
        result = run_engine(course, submissions, arguments)
        done, told, n_left = list(result.outcomes), _told(result), len(result.left)
        failures = [
            f"{line(student)}'s {lesson}: {FAILED} {line(' '.join(outcome.notes) or ON_PAGE)}"
            for (student, lesson), outcome in result.outcomes.items()
            if outcome.score is None
        ]
    unchanged = "" if done else _unchanged(len(submissions), n_left)
    print(f"Graded {plural(len(done), 'submission')}.{unchanged}", *told, sep="\n")
    with only_grader(course.folder, course.db_url):  # scores and copies must be of one moment
        book = course.book()
        report = write_report(course, book)
        print("", *summary(course, book), sep="\n")
        print(f"Scores of everyone, and the mistakes that were named: {report}")
        print(f"Feedback pages: {course.feedback}")
        print("\n".join(first_lines(failures)), end="\n" if failures else "")
        write_feedback(course, without_page(course, submissions, book), book)
    return 1 if failures else 0


def _unchanged(n_chosen: int, n_left: int) -> str:
    """Return why nothing was graded, as far as `_told` does not say it."""
    if not n_chosen:
        return " None of the lessons and students chosen has a hand-in."
    if n_chosen == n_left:
        return ""
    return " No hand-in has changed since it was graded; --regrade grades all again."


def _told(result: Run, most: int = 7) -> list[str]:
    """Return what else a run did: what was judged anew, left as it was, or is late."""
    lines = changes.told(result.changes)
    if len(lines) > most:
        lines = [*lines[:most], "..."]
    if result.changes:
        lines.append(f"  Every change: report/{changes.FILE}")
    lines += [
        f"Look at {line(student)}'s {lesson}: it touches {', '.join(outcome.unusual)}."
        for (student, lesson), outcome in result.outcomes.items()
        if outcome.unusual
    ]
    if result.left:
        lines.append(
            f"{len(result.left)} graded by nbgrader's own engine are left as they are; --regrade "
            "grades them by the course's."
        )
    if result.n_late:
        lines.append(f"Late penalties changed: {result.n_late}.")
    return lines


def _by_nbgrader(
    course: GradingCourse, submissions: Submissions, arguments: argparse.Namespace
) -> tuple[Submissions, list[str]]:
    with only_grader(course.folder, course.db_url):
        todo = [
            (student, lesson)
            for student, lesson in submissions
            if arguments.regrade
            or not nbgrader_autograde.is_current(course.folder, student, lesson)
        ]
        if todo:
            course.back_up()
        for lesson in course.lessons:
            if any(name == lesson.name for _, name in todo):
                course.record(lesson)
        failures = nbgrader_autograde.autograde(course, todo)
        settle(course, is_backed_up=bool(todo))
    return todo, failures
