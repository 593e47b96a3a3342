"""The content of submitted/, read with care: students wrote it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.course.beside import SECRET
from grader.course.course import GradingCourse
from grader.course.hand_in_time import as_time, stamp
from grader.notebook_file import ENDING, notebook_in
from grader.notebook_limits import MOST_BYTES
from grader.regular_file import names_in, read_plain, read_plain_text

_SECRET_FORM: Final = re.compile(r"[0-9A-Za-z_-]{1,256}")


@dataclass(frozen=True)
class Submitted:
    """One submission: the notebook's bytes, when it came, and the secret to fetch feedback with."""

    data: bytes
    timestamp: str
    secret: str


def read(course: GradingCourse, student: str, lesson: str) -> Submitted:
    """Read a submission; bytes are none if the notebook is missing, a link or no regular file.

    It reads no more than is needed to see that a notebook is too large.

    Raises:
        Unreadable: something of it is there and cannot be read, which is no fault of the student's.

    """
    folder = course.folder / "submitted" / student / lesson
    data = read_plain(folder / f"{lesson}{ENDING}", MOST_BYTES + 1)
    if data is None and folder.is_dir():  # it may have another name
        name = notebook_in(folder, names_in(folder), lesson)
        data = read_plain(folder / name, MOST_BYTES + 1)
    return Submitted(data or b"", _timestamp(folder), _secret(folder))


def as_graded(course: GradingCourse, student: str, lesson: str) -> tuple[str, str]:
    """Return the timestamp and the secret that lie beside the graded copy."""
    folder = course.folder / "autograded" / student / lesson
    return _timestamp(folder), _secret(folder)


def _timestamp(folder: Path) -> str:
    """Return when it was submitted; "" if the file is missing or holds no time."""
    text = stamp(folder)
    return text if as_time(text) else ""


def _secret(folder: Path) -> str:
    text = read_plain_text(folder / SECRET, 300)
    return text if _SECRET_FORM.fullmatch(text) else ""
