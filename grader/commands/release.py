"""`python -m grader release`: hand feedback back to students through the exchange."""

import argparse
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.utils import notebook_hash

from grader.authoring.files import find_root
from grader.calendar.penalties import settle
from grader.commands.arguments import add_choice, chosen_lessons, chosen_submissions
from grader.course.beside import BOTH, SECRET
from grader.course.course import GradingCourse, run_converter
from grader.course.graded_copies import is_entered
from grader.course.safe_text import line, lines
from grader.course.wording import first, plural
from grader.errors import CourseError
from grader.gradebook.lock import only_grader
from grader.pages.feedback import without_page, write_feedback

MOST_SHOWN = 10


@dataclass
class HandedBack:
    """What became of the pages, each a (student, lesson).

    Attributes:
        released: offered in the exchange, as it is now.
        not_graded: without a graded copy or a page, or not entered into the gradebook yet.
        not_by_exchange: handed in another way, so that nothing can be fetched.
        failures: one message for each page that nbgrader could not release.

    """

    released: list[tuple[str, str]] = field(default_factory=list)
    not_graded: list[tuple[str, str]] = field(default_factory=list)
    not_by_exchange: list[tuple[str, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_choice(parser)
    parser.epilog = (
        "Students fetch their pages with Fetch Feedback in Nbgrader's Assignment List. Nothing is "
        "handed back before this command, and running it again replaces what has changed."
    )


def run(arguments: argparse.Namespace) -> int:
    """Release the pages, say what became of them, and return the exit code.

    Raises:
        CourseError: a page could not be written; all others are released and told by then.

    """
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    wanted = chosen_lessons(course, arguments.lesson)
    chosen = chosen_submissions(course, wanted, arguments.student)
    graded = [(s, n) for s, n in chosen if (course.folder / "autograded" / s / n).is_dir()]
    failure = None
    with only_grader(course.folder, course.db_url):
        if graded:
            settle(course, is_backed_up=False)  # a run that was interrupted set no late penalty
        book = course.book()
        try:
            write_feedback(course, without_page(course, graded, book), book)
        except CourseError as error:
            failure = error
        stale = set(without_page(course, graded, book))  # an old page tells old scores
        done = _hand_back(course, [key for key in chosen if key not in stale])
    print("\n".join(_told(course, done)))
    if failure is not None:
        raise failure
    return 1 if done.failures else 0


def _hand_back(course: GradingCourse, submissions: list[tuple[str, str]]) -> HandedBack:
    """Release the pages of graded submissions, one by one: none stops another."""
    done = HandedBack()
    for student, lesson in submissions:
        graded = course.folder / "autograded" / student / lesson
        page = course.page(student, lesson)
        is_whole = graded.is_dir() and is_entered(course.folder, student, lesson)
        if not (is_whole and page.is_file()):
            done.not_graded.append((student, lesson))
        elif not all((graded / name).is_file() for name in BOTH):
            done.not_by_exchange.append((student, lesson))
        else:
            for name in BOTH:  # nbgrader reads them beside the page
                shutil.copyfile(graded / name, page.parent / name)
            _release(course, student, lesson, done)
    return done


def _release(course: GradingCourse, student: str, lesson: str, done: HandedBack) -> None:
    page = course.page(student, lesson)
    try:
        run_converter(_releaser(course, student, lesson), "nbgrader did not take the page")
        offered = _offered(course, page.parent, lesson)
        if not (offered.is_file() and offered.read_bytes() == page.read_bytes()):
            raise CourseError("nbgrader found no page: is there a line end in the name?")
    except CourseError as error:
        done.failures.append(lines(f"{line(student)}'s {lesson}: {error}"))
    else:
        done.released.append((student, lesson))


def _releaser(course: GradingCourse, student: str, lesson: str) -> Any:
    config = course.converter_config(lesson, student)
    return ExchangeFactory(config=config).ReleaseFeedback(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    )


def _offered(course: GradingCourse, folder: Path, lesson: str) -> Path:
    """Return the page's place in the exchange, as nbgrader names it."""
    config = course.config
    name = notebook_hash(secret=(folder / SECRET).read_text(), notebook_id=lesson)
    root = Path(config.Exchange.root, config.CourseDirectory.course_id)
    return root / "feedback" / f"{name}.html"


def _told(course: GradingCourse, done: HandedBack) -> list[str]:
    if not (done.released or done.not_by_exchange or done.not_graded or done.failures):
        return ["Nothing has been submitted yet, so there is no feedback to release."]
    told = ["No feedback was released."]
    if done.released:
        pages = plural(len(done.released), "page")
        told = [f"Feedback released: {pages}. Students read them with Fetch"]
        told += ["Feedback in the Assignment List."]
    if done.not_by_exchange:
        told.append(
            f"Not handed in through the exchange, so not handed back there: "
            f"{_shown(done.not_by_exchange)}. Their pages are in {course.feedback}."
        )
    if done.not_graded:
        told.append(f"Not graded yet: {_shown(done.not_graded)}. Run make grade.")
    return [*told, *done.failures[:MOST_SHOWN]]


def _shown(found: list[tuple[str, str]]) -> str:
    return first([f"{line(student)}'s {lesson}" for student, lesson in found], MOST_SHOWN)
