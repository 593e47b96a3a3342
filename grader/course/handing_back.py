"""Hand feedback pages back through nbgrader's exchange, from where students fetch them."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.utils import notebook_hash

from grader.course.beside import BOTH, SECRET
from grader.course.course import GradingCourse, run_converter
from grader.course.graded_copies import is_entered
from grader.course.safe_text import line, lines
from grader.errors import CourseError


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


def hand_back(course: GradingCourse, submissions: list[tuple[str, str]]) -> HandedBack:
    """Release the pages of graded submissions, one by one: none stops another."""
    done = HandedBack()
    for student, lesson in submissions:
        graded = course.folder / "autograded" / student / lesson
        page = course.feedback / student / lesson / f"{lesson}.html"
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
    page = course.feedback / student / lesson / f"{lesson}.html"
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
