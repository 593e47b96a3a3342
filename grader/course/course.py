"""A course folder as nbgrader sees it, and what is in it."""

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from nbgrader.api import Gradebook, Student
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from traitlets.config import Config

from grader.authoring.freshness import release_fault, solution_fault
from grader.authoring.lesson import Lesson, lessons
from grader.authoring.own_mistakes import own_mistakes, with_own
from grader.authoring.release import course_config
from grader.course.book import Book, read_book
from grader.course.private import keep_private
from grader.course.secret import course_secret, varied
from grader.errors import CourseError
from grader.gradebook.backups import back_up, verify_not_lost
from grader.gradebook.database import cannot_be_opened, db_url, elsewhere
from grader.gradebook.migration import fit, is_recorded
from grader.gradebook.server import open_gradebook
from grader.gradebook.soundness import verify_sound
from grader.gradebook.versions import verify_known
from utils.lab.settings import Settings, SettingsError, read_settings

NBGRADERS_LOG: Final = logging.getLogger("tornado.application")  # of its gradebook
LONGEST_ID: Final[int] = Student.id.type.length  # characters
BESIDE_ERRORS: Final = (
    "The above exception was", "During handling of", "[SQL:", "[parameters:", "(Background on",
)  # fmt: skip


@dataclass(frozen=True)
class GradingCourse:
    """Lessons from `root`, submissions and grades in `folder` (the same, or the demo's).

    Attributes:
        root: where the lessons' texts and nbgrader_config.py are.
        folder: where submitted/, autograded/ and feedback/ are, and the gradebook unless nbgrader's
            settings put it elsewhere.

    """

    root: Path
    folder: Path

    @cached_property
    def lessons(self) -> list[Lesson]:
        """Every lesson of the course, in order, with the class's own hidden cases and mistakes."""
        secret, own = course_secret(self.root), own_mistakes(self.root)
        return [with_own(varied(lesson, secret), own) for lesson in lessons(self.root)]

    @cached_property
    def settings(self) -> Settings:
        """What the class has set in course.toml; CourseError where it cannot be used."""
        try:
            return read_settings(self.root)
        except SettingsError as error:
            raise CourseError(f"{error}. Correct it, then run the same command.") from None

    @cached_property
    def config(self) -> Config:
        """Nbgrader's settings for this folder; source notebooks come from the course."""
        config: Any = course_config(self.root, self.folder)
        if self.root.resolve() != self.folder.resolve():  # nbgrader escapes no path from here
            config.CourseDirectory.source_directory = str(self.root / "solutions")
        config.CourseDirectory.db_url = db_url(self.root, self.folder)
        return Config(config)

    @property
    def db_url(self) -> str:
        """Where the gradebook is: the one setting that every command follows."""
        return str(self.config.CourseDirectory.db_url)

    @property
    def feedback(self) -> Path:
        """Where the feedback pages are."""
        return self.folder / "feedback"

    def page(self, student: str, lesson: str) -> Path:
        """Return where a student's feedback page is, or will be."""
        return self.feedback / student / lesson / f"{lesson}.html"

    def gradebook(self) -> Gradebook:
        """Open the gradebook, closed to other users; use it as a context manager.

        Raises:
            CourseError: it is locked, lost, not a gradebook, on a server that refuses, a later
                nbgrader's, or changed by hand so that no program can read it.

        """
        verify_not_lost(self.db_url, self.folder)
        try:
            gradebook = open_gradebook(self.db_url)
        except SQLAlchemyError as error:
            raise CourseError(cannot_be_opened(error, self.folder)) from None
        verify_known(gradebook)
        if not vars(self).get("_is_sound"):  # once for a command: a semester's takes 40 ms
            verify_sound(gradebook)
            vars(self)["_is_sound"] = True
            if told := elsewhere(self.root, self.folder, self.db_url):
                print(told, file=sys.stderr)
        keep_private(self.folder)
        return gradebook

    def students(self) -> list[str]:
        """Return the ids of the students in the gradebook."""
        with self.gradebook() as gradebook:
            return [student.id for student in gradebook.students]

    def book(self) -> Book:
        """Read the gradebook as it is now: once for a command, which hands it on."""
        with self.gradebook() as gradebook:
            return read_book(gradebook, self.folder)

    def submitted(self) -> list[tuple[str, str]]:
        """Return (student, lesson) of all submissions in submitted/, in order, less `left_out`."""
        known = {lesson.name for lesson in self.lessons}
        found = sorted((self.folder / "submitted").glob("*/*"))
        there = [(p.parent.name, p.name) for p in found if p.name in known and _may_be_folder(p)]
        return [(student, lesson) for student, lesson in there if _is_id(student)]

    def left_out(self) -> list[str]:
        """Return the folders in submitted/ whose names no gradebook can hold, fit for printing."""
        names = sorted(path.name for path in (self.folder / "submitted").glob("*"))
        return [ascii(name) for name in names if not _is_id(name)]

    @contextmanager
    def transaction(self) -> Iterator[Gradebook]:
        """Yield nbgrader's gradebook, with its many commits held back for one at the end."""
        with self.gradebook() as gradebook, warnings.catch_warnings(), _unlogged():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader's own relations warn
            commit, gradebook.db.commit = gradebook.db.commit, gradebook.db.flush
            try:
                yield gradebook
                commit()
            except BaseException:
                gradebook.db.rollback()
                raise
            finally:
                gradebook.db.commit = commit

    def back_up(self) -> None:
        """Copy the gradebook; to be called once by a run, before it writes.

        Raises:
            CourseError: it cannot be copied.

        """
        back_up(self.db_url, self.folder)

    def record(self, lesson: Lesson) -> None:
        """Record a lesson's exercises, points and tests in the gradebook, as they are now.

        Raises:
            CourseError: the lesson is not built, or not as its text is now, or nbgrader refuses it.

        """
        if fault := solution_fault(lesson) or release_fault(lesson, self.root):
            raise CourseError(
                f"{lesson.name} was not graded: its notebook {fault}. Run make build, then the "
                "same command."
            )
        with self.transaction() as gradebook:
            if is_recorded(gradebook, lesson):
                return
            fit(gradebook, lesson)
        config = self.converter_config(lesson.name)
        config.CourseDirectory.release_directory = ".course/released"  # notebooks/ stays as it is
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.force = True
        run_converter(
            converter,
            f"The gradebook does not take {lesson.name}, so nothing of it was graded. Correct "
            "what is named below, then run the same command",
        )

    def converter_config(self, assignment: str, student: str = "*") -> Any:
        """Return nbgrader's settings for one assignment, and one student or all."""
        config: Any = Config(self.config)
        config.CourseDirectory = Config(config.CourseDirectory)
        config.CourseDirectory.assignment_id = assignment
        config.CourseDirectory.student_id = student
        return config

    def converter(self, kind: type[Any], assignment: str, student: str) -> Any:
        """Return one of nbgrader's converters, set to one submission."""
        config = self.converter_config(assignment, student)
        converter = kind(coursedir=CourseDirectory(config=config), config=config)
        converter.force = True
        return converter


@contextmanager
def _unlogged() -> Iterator[None]:
    """Hold back the traceback that nbgrader logs of what a database refuses: it raises it, too."""
    before, NBGRADERS_LOG.disabled = NBGRADERS_LOG.disabled, True
    try:
        yield
    finally:
        NBGRADERS_LOG.disabled = before


def _may_be_folder(path: Path) -> bool:
    """Return whether it is a folder, or cannot be looked at: then grading tells why it cannot."""
    try:
        return path.is_dir()
    except OSError:
        return True


def _is_id(name: str) -> bool:
    """Return whether every gradebook can hold a folder's name as a student's id.

    It must be UTF-8 (if not, Python puts surrogates in it), and PostgreSQL refuses a longer one
    than nbgrader's tables say.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return len(name) <= LONGEST_ID


def run_converter(converter: Any, failure: str) -> None:
    """Run a converter and hold back its log.

    Raises:
        CourseError: it failed; the message says what could not be done, with the last lines of
            nbgrader's log.
        KeyboardInterrupt: it was stopped, which nbgrader takes for a failure.

    """
    result = capture_log(converter)
    if result.get("error", "").rstrip().endswith("\nKeyboardInterrupt"):
        raise KeyboardInterrupt
    if not result["success"]:
        lines = "\n".join(part for key in ("log", "error") if (part := result.get(key)))
        raise CourseError(f"{failure}:\n{_last_words(lines)}")


def _last_words(log: str, count: int = 12) -> str:
    """Return the end of a log: of its tracebacks only what they end with, and each line once."""
    words: dict[str, None] = {}
    in_trace = False
    for said in log.splitlines():
        in_trace = said.startswith("Traceback") or (in_trace and said.startswith(" "))
        if not (in_trace or _is_of_a_trace(said)):
            words[said.rstrip()] = None
    return "\n".join([*words][-count:])


def _is_of_a_trace(said: str) -> bool:
    """Return whether a line only leads from one error to the next, or shows the query of one."""
    return not said.strip() or "above traceback" in said or said.startswith(BESIDE_ERRORS)
