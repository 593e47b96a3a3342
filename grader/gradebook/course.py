"""A course folder as nbgrader sees it, and what stands in it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from grader.build.lesson import Lesson, lessons
from grader.build.release import course_config
from grader.errors import CourseError


@dataclass(frozen=True)
class GradingCourse:
    """Lessons from `root`, submissions and grades in `folder` (the same, or the demo's).

    Attributes:
        root: where the lessons' texts and nbgrader_config.py are.
        folder: where submitted/, autograded/, feedback/ and gradebook.db are.
    """

    root: Path
    folder: Path

    @cached_property
    def lessons(self) -> list[Lesson]:
        """Every lesson of the course, in order."""
        return lessons(self.root)

    @cached_property
    def config(self) -> Config:
        """Nbgrader's settings for this folder; source notebooks come from the course."""
        config: Any = course_config(self.root, self.folder)
        config.CourseDirectory.source_directory = str(self.root / "solutions")
        return Config(config)

    @property
    def feedback(self) -> Path:
        """Where the feedback pages are."""
        return self.folder / "feedback"

    def gradebook(self) -> Gradebook:
        """Open the gradebook; use it as a context manager.

        Raises:
            CourseError: it is locked, or no gradebook.
        """
        try:
            return Gradebook(self.config.CourseDirectory.db_url)
        except SQLAlchemyError as error:
            reason = getattr(error, "orig", error)
            raise CourseError(
                f"The gradebook in {self.folder} cannot be opened ({reason}). "
                "Close the program that holds it, then run the same command."
            ) from None

    def submitted(self) -> list[tuple[str, str]]:
        """(student, lesson) of every submission in submitted/, in order; but for `left_out`."""
        known = {lesson.name for lesson in self.lessons}
        found = sorted((self.folder / "submitted").glob("*/*"))
        there = [(p.parent.name, p.name) for p in found if p.name in known and p.is_dir()]
        return [(student, lesson) for student, lesson in there if _is_text(student)]

    def left_out(self) -> list[str]:
        """Folders in submitted/ whose names no gradebook can hold, as they can be shown."""
        names = sorted(path.name for path in (self.folder / "submitted").glob("*"))
        return [ascii(name) for name in names if not _is_text(name)]

    def record(self, lesson: Lesson) -> None:
        """Make the gradebook know a lesson's exercises and points, as they are now.

        Raises:
            CourseError: the lesson is not built, or nbgrader refuses it.
        """
        if self._is_recorded(lesson):
            return
        if not lesson.solution_path.is_file():
            raise CourseError(f"{lesson.name} is not built yet: run make build")
        config = self.converter_config(lesson.name)
        config.CourseDirectory.release_directory = ".course/released"  # notebooks/ stays as it is
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.force = True
        run_converter(converter, f"the gradebook does not take {lesson.name}")

    def _is_recorded(self, lesson: Lesson) -> bool:
        wanted = {f"test_{exercise.id}": exercise.points for exercise in lesson.exercises}
        with self.gradebook() as gradebook:
            try:
                notebook = gradebook.find_notebook(lesson.name, lesson.name)
            except MissingEntry:
                return False
            return {cell.name: cell.max_score for cell in notebook.grade_cells} == wanted

    def converter_config(self, assignment: str, student: str = "*") -> Any:
        """Nbgrader's settings for one assignment, and one student or all."""
        config: Any = Config(self.config)
        config.CourseDirectory = Config(config.CourseDirectory)
        config.CourseDirectory.assignment_id = assignment
        config.CourseDirectory.student_id = student
        return config

    def converter(self, kind: type[Any], assignment: str, student: str) -> Any:
        """One of nbgrader's converters, set on one submission."""
        config = self.converter_config(assignment, student)
        converter = kind(coursedir=CourseDirectory(config=config), config=config)
        converter.force = True
        return converter


def _is_text(name: str) -> bool:
    """Whether a file's name is UTF-8 (elsewhere Python puts surrogates in it)."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def run_converter(converter: Any, failure: str) -> None:
    """Run a converter with its log kept back.

    Raises:
        CourseError: it failed; says what could not be done and the last lines of nbgrader's log.
        KeyboardInterrupt: it was stopped, which nbgrader takes for a failure.
    """
    result = capture_log(converter)
    if result.get("error", "").rstrip().endswith("\nKeyboardInterrupt"):
        raise KeyboardInterrupt
    if not result["success"]:
        lines = "\n".join(part for key in ("log", "error") if (part := result.get(key)))
        raise CourseError(f"{failure}:\n{_last_lines(lines)}")


def _last_lines(text: str, count: int = 12) -> str:
    return "\n".join(text.strip().splitlines()[-count:])
