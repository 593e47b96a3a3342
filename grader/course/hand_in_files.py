"""The files of a hand-in that grading reads: no others are collected or archived.

Students fill the folders that they hand in, with links, folders in folders and files full of holes
too. What else is there is named, to them and to whoever grades, and never opened.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.course.beside import BOTH
from grader.course.safe_text import line
from grader.notebook_file import notebook_in
from grader.regular_file import names_in
from utils.treebank.predictions import FILE as PREDICTIONS

MOST_BYTES: Final = 32 << 20  # of one file; grading reads notebooks of up to 16 MiB
BESIDE: Final = (*BOTH, PREDICTIONS)  # what grading reads beside a notebook
NOT_READ: Final = "grading does not read it"
MOST_NAMED: Final = 8
MOST_NOTED: Final = 100  # of thousands that a student may put there


@dataclass(frozen=True)
class LeftOut:
    """A hand-in, or a file of one, that was not taken.

    Attributes:
        what: its name, fit for printing.
        reason: the same words for all of a kind.
        owner: whose it is: a user's number (-1 if that cannot be read) or a student's id.

    """

    what: str
    reason: str
    owner: int | str

    def __str__(self) -> str:
        """Return a line without its end."""
        return f"{self.what}: {self.reason}"


def by_kind(left_out: Iterable[LeftOut]) -> list[list[LeftOut]]:
    """Group by reason and owner, for one user can leave thousands of odd folders."""
    kinds: dict[tuple[str, int | str], list[LeftOut]] = defaultdict(list)
    for item in left_out:
        kinds[item.reason, item.owner].append(item)
    return list(kinds.values())


def fault(size: int | None) -> str:
    """Return why a file that grading reads is not taken, by its size; "" if it is.

    Args:
        size: None stands for what is no plain file.

    """
    if size is None:
        return "it is no plain file"
    return f"it is larger than {MOST_BYTES >> 20} MiB" if size > MOST_BYTES else ""


def note_unread(course: Path, student: str, lesson: str, names: Collection[str]) -> None:
    """Note what else was handed in, for the student's page: it is not collected."""
    file = _noted(course, student, lesson)
    if names:
        (course / ".course").mkdir(exist_ok=True)
        file.parents[1].mkdir(mode=0o700, exist_ok=True)
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(sorted(names)[:MOST_NOTED]), encoding="utf-8")
    else:
        file.unlink(missing_ok=True)


def unread(course: Path, student: str, lesson: str) -> list[str]:
    """Return the names of what was handed in and not read, in order."""
    names: set[str] = set()
    with suppress(OSError, ValueError, TypeError):
        names.update(map(str, json.loads(_noted(course, student, lesson).read_text("utf-8"))))
    with suppress(OSError):  # grading meets it, and tells it
        names.update(lying_beside(course / "submitted" / student / lesson, lesson))
    return sorted(names)


def lying_beside(folder: Path, lesson: str) -> list[str]:
    """Return what lies in a hand-in's folder, put there by hand, and is not read.

    Hidden names are the system's, or a collector's of the moment.

    Raises:
        Unreadable: the folder cannot be listed, or what may be its notebook not read.

    """
    names = [name for name in names_in(folder) if not name.startswith(".")]
    return [n for n in names if n not in (*BESIDE, notebook_in(folder, names, lesson))]


def told(names: Sequence[str]) -> str:
    """Return a sentence for the student on what was not read; "" if that is nothing."""
    if not names:
        return ""
    shown = ", ".join(line(name) for name in names[:MOST_NAMED])
    more = ", and more" * (len(names) > MOST_NAMED)
    return (
        f"Handed in too, and not read by grading: {shown}{more}. What is to count "
        "belongs into the notebook."
    )


def _noted(course: Path, student: str, lesson: str) -> Path:
    return course / ".course" / "not-read" / student / f"{lesson}.json"
