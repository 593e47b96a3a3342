"""Where the gradebook is: where nbgrader's settings say, else in the course's folder."""

from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_path
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from traitlets.config import Application

from grader.errors import CourseError, help_with, printable
from grader.gradebook.address import file_url, shown, sqlite_file


def db_url(root: Path, folder: Path) -> str:
    """Return the URL of the gradebook of the course at `root` whose submissions are in `folder`.

    A `CourseDirectory.db_url` counts wherever nbgrader itself would find it: in the course's
    nbgrader_config.py, in an nbgrader_config.json beside it, or in Jupyter's folders of settings.
    A folder that is not the course's own (the demo's) always has a gradebook of its own.

    Raises:
        CourseError: the configured URL is none.

    """
    configured = _configured(root) if root.resolve() == folder.resolve() else None
    return absolute(configured[0], root) if configured else file_url(folder / "gradebook.db")


def elsewhere(root: Path, folder: Path, url: str) -> str:
    """Return where a gradebook is and what says so; "" if it is in the course's folder."""
    file = sqlite_file(url)
    if file is not None and file.resolve().is_relative_to(folder.resolve()):
        return ""
    where = printable(str(file or shown(url)))
    found = _configured(root)
    return f"The gradebook is {where}, as {printable(str(found[1] if found else root))} says."


def cannot_be_opened(error: SQLAlchemyError, folder: Path) -> str:
    """Return why a course's gradebook cannot be opened, and what helps."""
    reason = str(getattr(error, "orig", None) or error)
    return (
        f"The gradebook of {folder} cannot be opened ({reason}). {help_with(reason)}, then run the "
        "same command."
    )


def _configured(root: Path) -> tuple[str, Path] | None:
    """Return the address in nbgrader's settings, and the file that it stands in."""
    for folder in (str(root), *jupyter_config_path()):  # the first has the last word
        application = Application()
        application.load_config_file("nbgrader_config", path=[folder])
        found: Any = application.config.CourseDirectory.get("db_url")
        if found:
            names = (Path(folder, f"nbgrader_config.{end}") for end in ("json", "py"))
            said = (x for x in names if x.is_file() and b"db_url" in x.read_bytes())
            return str(found), next(said, Path(folder))
    return None


def absolute(url: str, root: Path) -> str:
    """Return the URL with a SQLite file relative to the course, from wherever a command is run.

    Raises:
        CourseError: it is none.

    """
    try:
        file = sqlite_file(url)
    except ArgumentError:
        raise CourseError(
            "CourseDirectory.db_url in nbgrader_config.py, or what was given in its place, is not "
            "a database's address. Write it like sqlite:////folder/gradebook.db or "
            "postgresql://name@host/database."
        ) from None
    return url if file is None or file.is_absolute() else file_url(root / file)
