"""Which files of a hand-in are taken, when it is collected and when it is kept in an archive.

Students fill the folders that they hand in, with links, folders in folders and files full of holes
too. Only regular files at the top of a folder are taken, up to a number and a size.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from grader.course.beside import BOTH
from grader.regular_file import Unreadable
from utils.treebank.predictions import FILE as PREDICTIONS

MOST_BYTES: Final = 32 << 20  # of one file
MOST_TOGETHER: Final = 64 << 20  # of one hand-in: holes in files cost who hands them in nothing
MOST_FILES: Final = 50
NO_FILE: Final = "it is no plain file"

# Takes a file of at most so many bytes; returns its size, or None if it is no plain file.
Take = Callable[[str, int], int | None]


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


class Looked(NamedTuple):
    """A file that was looked at.

    Attributes:
        name: in its folder.
        reason: why it is left out; "" if it was taken.
        error: what is in the way of reading it, which is not the student's fault.

    """

    name: str
    reason: str = ""
    error: Unreadable | None = None

    @classmethod
    def unread(cls, name: str, error: Unreadable) -> "Looked":
        """Return one that cannot be read."""
        return cls(name, f"it cannot be read ({error.strerror})", error)


def by_kind(left_out: Iterable[LeftOut]) -> list[list[LeftOut]]:
    """Group by reason and owner, for one user can leave thousands of odd folders."""
    kinds: dict[tuple[str, int | str], list[LeftOut]] = defaultdict(list)
    for item in left_out:
        kinds[item.reason, item.owner].append(item)
    return list(kinds.values())


def names_in(folder: Path) -> list[str]:
    """List a folder, in order.

    Raises:
        Unreadable: it cannot be listed.

    """
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise Unreadable(error.errno, error.strerror, str(folder)) from None


def read_by_grading(lesson: str) -> tuple[str, ...]:
    """Return the names of the files that grading reads, if they are there."""
    return f"{lesson}.ipynb", *BOTH, PREDICTIONS


def take(names: Collection[str], first: Sequence[str], one: Take) -> Iterator[Looked]:
    """Take the files of a hand-in one after another; yield each, with why it is left out if it is.

    Those named in `first` go ahead: whatever lies beside them takes no room of theirs.

    Args:
        names: of all that is in the hand-in's folder.
        first: what grading reads.
        one: takes one of them; what it raises as Unreadable is told and stops no other.

    """
    there = [*(name for name in first if name in names), *sorted(set(names).difference(first))]
    room = MOST_TOGETHER
    for name in there[:MOST_FILES]:
        try:
            size = one(name, min(room, MOST_BYTES))
        except Unreadable as error:
            yield Looked.unread(name, error)
            continue
        reason = _too_much(size, room)
        room -= 0 if reason else size or 0
        yield Looked(name, reason)
    for name in there[MOST_FILES:]:
        yield Looked(name, f"of a hand-in {MOST_FILES} files are taken")


def _too_much(size: int | None, room: int) -> str:
    if size is None:
        return NO_FILE
    if size > MOST_BYTES:
        return f"it is larger than {MOST_BYTES >> 20} MiB"
    return f"the hand-in is larger than {MOST_TOGETHER >> 20} MiB" if size > room else ""
