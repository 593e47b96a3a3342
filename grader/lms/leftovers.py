"""Files that were not collected: each kept with its reason in a folder of its own."""

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
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:8]
    place = folder / "lms" / "unmatched" / f"{_plain(archive.stem)}-{digest}"
    shutil.rmtree(place, ignore_errors=True)
    if not left and not absent:
        return None
    private_folder(place)
    rows = [["file or student", "what happened", "kept as"]]
    for number, item in enumerate(left, 1):
        name = f"{number:03d}-{_plain(item.entry.rpartition('/')[2])}" if item.path else ""
        rows.append([item.entry, item.reason, name])
        if item.path:
            shutil.copyfile(item.path, place / name)
    rows += [[student, "nothing of this student is in the download", ""] for student in absent]
    write_private(place / "reasons.csv", csv_text(rows))
    return place


def _plain(name: str) -> str:
    """Return a name of letters, digits, dots and dashes that is harmless anywhere.

    Its end is kept: file systems count bytes, and a letter may take four.
    """
    plain = re.sub(r"[^\w.-]+", "-", name).encode()[-LONGEST:]
    return plain.decode(errors="ignore").lstrip(".-") or "file"
