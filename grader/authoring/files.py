"""Find the course and its built files, and replace files in one step."""

import os
import tempfile
from pathlib import Path

from grader.authoring.lesson import Lesson
from grader.errors import CourseError


def find_root(start: Path) -> Path:
    """Return the course's folder: `start` or the nearest one above with an nbgrader_config.py."""
    for folder in [start, *start.parents]:
        if (folder / "nbgrader_config.py").is_file():
            if "[" in str(folder):
                raise CourseError(
                    f"nbgrader takes [ in the name of a folder for a pattern: {folder}. Rename it, "
                    "then run the same command."
                )
            return folder
    raise CourseError(
        f"{start} is not in a course: there is no nbgrader_config.py here or above. Go to the "
        "course's folder, then run the same command."
    )


def write_if_changed(path: Path, content: str) -> None:
    """Replace a file in one step: a build that stops leaves the old one whole."""
    if path.is_file() and path.read_text(encoding="utf-8") == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(content)
        Path(temporary).chmod(0o644)  # mkstemp makes a private file
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def stale(root: Path, lessons: list[Lesson]) -> list[Path]:
    """Return the notebooks under solutions/ and notebooks/ that no lesson text builds."""
    built = {path for lesson in lessons for path in (lesson.solution_path, lesson.release_path)}
    found = [*(root / "solutions").rglob("*.ipynb"), *(root / "notebooks").rglob("*.ipynb")]
    return sorted(p for p in found if p not in built and ".ipynb_checkpoints" not in p.parts)
