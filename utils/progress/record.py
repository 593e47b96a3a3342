"""One small file for each exercise that was checked, beside the learner's copies of the lessons.

A file each, replaced as a whole: two notebooks that write at once never damage one another's
records, and a damaged file costs one exercise's record only.
"""

import hashlib
import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FOLDER = ".progress"  # JupyterLab does not list names that begin with a dot


@dataclass(frozen=True)
class Record:
    """What the last check of an exercise found.

    Attributes:
        checked: when, in seconds since 1970.
        passed: whether every visible case passed.
        started: whether there was an answer at all.
        cell: checksum of the cell that defined the answer, None if it is not known.
        last_passed: when a check passed last, in seconds since 1970; None if none did.

    """

    checked: float
    passed: bool
    started: bool
    cell: str | None
    last_passed: float | None


def checksum(cell: str) -> str:
    """Return a short checksum of a cell's source; blanks at its lines' ends do not count."""
    lines = "\n".join(line.rstrip() for line in cell.strip().splitlines())
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def read(learn: Path, lesson: str, exercise: str) -> Record | None:
    """Return what is on record for an exercise, None if nothing is or if it cannot be read.

    Args:
        learn: the folder with the learner's copies.
        lesson: the lesson's folder in it.
        exercise: the exercise's id.

    """
    try:
        return _valid(json.loads(_file(learn, lesson, exercise).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def write(learn: Path, lesson: str, exercise: str, record: Record) -> None:
    """Replace an exercise's record as a whole.

    Raises:
        OSError: it cannot be written; what was on record before is still there.

    """
    replace(_file(learn, lesson, exercise), asdict(record))


def replace(file: Path, content: dict[str, Any]) -> None:
    """Replace a file of the record as a whole.

    Raises:
        OSError: it cannot be written; what it held before is still there.

    """
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")  # a name that no other notebook writes
    try:
        new.write_text(json.dumps(content) + "\n", encoding="utf-8")
        new.replace(file)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def forget(learn: Path, lesson: str) -> None:
    """Drop a lesson's records: a fresh copy of it starts from the beginning."""
    shutil.rmtree(learn / FOLDER / lesson, ignore_errors=True)


def _file(learn: Path, lesson: str, exercise: str) -> Path:
    return learn / FOLDER / lesson / f"{exercise}.json"


def _valid(found: Any) -> Record:
    """Return the record that was read.

    Raises:
        TypeError: it has not the fields of a record, or a field is of another type.

    """
    record = Record(**found)
    right = (
        _is_time(record.checked)
        and isinstance(record.passed, bool)
        and isinstance(record.started, bool)
        and isinstance(record.cell, str | None)
        and (record.last_passed is None or _is_time(record.last_passed))
    )
    if not right:
        raise TypeError("not a record")
    return record


def _is_time(value: object) -> bool:
    """Return whether a value can be a time that calendars know."""
    return isinstance(value, int | float) and 0 <= value < 2**35
