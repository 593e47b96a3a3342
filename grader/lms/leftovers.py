"""What could not be handed on: each file with its reason, kept in a folder of its own."""

import hashlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.course.private import private_folder, write_private
from grader.course.safe_text import csv_text

LONGEST: Final = 100  # bytes of a name


@dataclass(frozen=True)
class Left:
    """A file of a download that was not collected.

    Attributes:
        entry: its path in the download.
        reason: why, as the end of a sentence.
        path: where its content is; None if it was not unpacked.
        is_fault: whether somebody has to look at it (an older copy is no fault).

    """

    entry: str
    reason: str
    path: Path | None = None
    is_fault: bool = True


def keep(folder: Path, archive: Path, left: Sequence[Left], absent: Sequence[str]) -> Path | None:
    """Write what was left over, and who handed in nothing; return the folder, if one is needed.

    The same download always gets the same folder.
    """
    place = folder / "lms" / "unmatched" / f"{_plain(archive.stem)}-{_digest(archive)}"
    shutil.rmtree(place, ignore_errors=True)
    if not left and not absent:
        return None
    private_folder(place)
    rows = [["file or student", "what happened", "kept as"]]
    for number, item in enumerate(left, 1):
        rows.append([item.entry, item.reason, _keep(item, place, number)])
    rows += [[student, "nothing of this student is in the download", ""] for student in absent]
    write_private(place / "reasons.csv", csv_text(rows))
    return place


def _keep(item: Left, place: Path, number: int) -> str:
    """Copy a file's content under a plain name; return the name."""
    if item.path is None:
        return ""
    name = f"{number:03d}-{_plain(item.entry.rpartition('/')[2])}"
    shutil.copyfile(item.path, place / name)
    return name


def _plain(name: str) -> str:
    """Return a name of letters, digits, dots and dashes that is harmless anywhere.

    Its end is kept: file systems count bytes, and a letter may take four.
    """
    plain = re.sub(r"[^\w.-]+", "-", name).encode()[-LONGEST:]
    return plain.decode(errors="ignore").lstrip(".-") or "file"


def _digest(archive: Path) -> str:
    with archive.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:8]
