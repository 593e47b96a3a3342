"""The students' notebook, made by nbgrader's own generate_assignment in a temporary folder."""

import tempfile
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from grader.authoring.lesson import Lesson
from grader.authoring.notebook import as_text, source_notebook
from grader.errors import CourseError

CONFIG: Final = "nbgrader_config.py"


def released(lesson: Lesson, root: Path) -> str:
    """Return the content of the lesson's release; nothing is run and no gradebook touched.

    Raises:
        CourseError: nbgrader refuses the lesson, or there is no room for a temporary copy.

    """
    try:
        return _released(lesson, root)
    except OSError as error:
        raise CourseError(
            f"The release of {lesson.name} could not be made in a temporary folder ({error}). "
            "Make room, or set TMPDIR to another folder, then run the same command."
        ) from None


def _released(lesson: Lesson, root: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        course = Path(folder)
        source = course / "solutions" / lesson.name / f"{lesson.name}.ipynb"
        source.parent.mkdir(parents=True)
        source.write_text(as_text(source_notebook(lesson)), encoding="utf-8")
        _generate(lesson.name, course_config(root, course))
        made = course / "notebooks" / lesson.name / f"{lesson.name}.ipynb"
        return made.read_text(encoding="utf-8")


def course_config(root: Path, folder: Path) -> Config:
    """Return the course's nbgrader settings, with `folder` instead of the course's own folder.

    Raises:
        CourseError: nbgrader_config.py is missing, or fails.

    """
    try:
        config: Any = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
    except Exception as error:  # whatever the code in it does
        raise CourseError(
            f"{root / CONFIG}{_line_of(error)} cannot be used ({type(error).__name__}: {error}). "
            "Correct it, then run the same command."
        ) from None
    config.CourseDirectory.root = str(folder)
    config.CourseDirectory.db_url = f"sqlite:///{folder / 'gradebook.db'}"
    return Config(config)


def _line_of(error: Exception) -> str:
    """Return which line of the settings failed, as far as that is known."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno},"
    lines = [x.lineno for x in traceback.extract_tb(error.__traceback__) if x.name == "<module>"]
    return f", line {lines[-1]}," if lines else ""


def _generate(name: str, config: Config) -> None:
    """Run generate_assignment without a database: cells need no record until grading."""
    config.GenerateAssignment.no_database = True
    config.SaveCells.enabled = False
    config.CourseDirectory.assignment_id = name
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    result = capture_log(converter)
    if not result["success"]:
        log: Iterable[str] = (result.get("log", ""), result["error"])
        raise CourseError(f"nbgrader could not make the release of {name}:\n" + "\n".join(log))
