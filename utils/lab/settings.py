"""A class's settings, from the file `course.toml` in the course's folder; it may be absent.

`submit = "/srv/nbgrader/exchange"` names a folder that students and instructor share; any other
text says where students upload their notebooks, such as `submit = "Moodle, below Lesson 2"`. Below
`[due]`, lines such as `02_attention = 2026-12-01T23:59:00` say when lessons are due. `labs = true`
lets the points of the labs count.
"""

import datetime as dt
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from utils.errors import UserError
from utils.text_files import read_text

FILE = "course.toml"
KNOWN = ("submit", "labs", "due")


class SettingsError(UserError):
    """The class's settings cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Settings:
    """What an instructor has set for a class.

    Attributes:
        shared: the exchange folder that the class shares, None if there is none.
        upload: where students upload their notebooks, in the instructor's words; "" if that is
            not set.
        due: when lessons are due, by name.
        labs: whether the points of the labs, which are optional, count.

    """

    shared: Path | None = None
    upload: str = ""
    due: dict[str, dt.datetime] = field(default_factory=dict)
    labs: bool = False


def read_settings(folder: Path) -> Settings:
    """Read the settings of the course in a folder; without the file nothing is set.

    Raises:
        SettingsError: the file cannot be read, or a value cannot be used.

    """
    file = folder / FILE
    try:
        found = tomllib.loads(read_text(file))
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from None
    if unknown := found.keys() - set(KNOWN):
        raise SettingsError(
            f"{file} sets {', '.join(sorted(unknown))}; known are submit, labs, [due]"
        )
    shared, upload = parse_submit(found.get("submit", ""), file)
    if not isinstance(labs := found.get("labs", False), bool):
        raise SettingsError(f"{file}: labs must be true or false")
    return Settings(shared, upload, _due(found.get("due", {}), file), labs)


def parse_submit(value: Any, where: Path) -> tuple[Path | None, str]:
    """Return the shared exchange that a value of `submit` names, or else its text.

    Raises:
        SettingsError: the value is no text.

    """
    if not isinstance(value, str):
        raise SettingsError(f"{where}: submit must be a folder's path or a text, in quotes")
    text = " ".join(value.split())
    path = Path(text).expanduser() if text.startswith(("~", "/")) else Path(text)
    return (path, "") if path.is_absolute() else (None, text)


def _due(found: Any, file: Path) -> dict[str, dt.datetime]:
    if not isinstance(found, dict):
        raise SettingsError(f"{file}: [due] must name lessons, each with its date")
    return {lesson: _moment(lesson, value, file) for lesson, value in found.items()}


def _moment(lesson: str, value: Any, file: Path) -> dt.datetime:
    """Return a due date with its time zone: a day ends at 23:59, local time unless it says so."""
    if isinstance(value, dt.datetime):
        return value.astimezone()
    if isinstance(value, dt.date):
        return dt.datetime.combine(value, dt.time(23, 59)).astimezone()
    raise SettingsError(f"{file}: {lesson} is due at {value!r}; write it as 2026-12-01T23:59:00")
