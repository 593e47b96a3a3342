"""What a file's place and name in a download say, in each system's shape.

Canvas: ``sortablename[_LATE]_<user id>_<attachment id>_<file>``; a resubmitted file's name ends in
``-1``, ``-2``, ... Moodle: ``Full name_<participant>_assignsubmission_file/<file>``, or flat,
``..._assignsubmission_file_<file>``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

# Canvas writes names small, and takes "_7_" out of them but not "_7-_", of which it drops the dash:
# a name can hold this form as well. An id has no zero in front, as our notebooks' names have.
_CANVAS: Final = re.compile(
    r"(?<!^)(?=(?:(?P<late>_LATE)|(?<!_LATE))"
    r"_(?P<key>[1-9]\d{0,19})_(?P<file_id>[1-9]\d{0,19})_(?P<file>.+))"
)
# Moodle leaves no underscore in a name, so the first part of this form is its own; what follows is
# the student's and may have the same form.
_MOODLE: Final = re.compile(
    r"(?:[^/]*/)*?(?P<name>[^/_]+)_(?P<key>\d{1,20})"
    r"_assignsubmission_(?P<plugin>[a-z0-9]+)(?:_?/|_)(?P<file>.+)"
)
_TYPED: Final = re.compile(r"_[1-9]\d{0,19}_(?:text|link)\.html$")  # in Canvas
_ANONYMOUS: Final = re.compile(r"anon(?:ymous)?_")  # Canvas's
_ATTEMPT: Final = re.compile(r"(?:-(\d{1,3})| ?\((\d{1,3})\))(?=\.[^.]*$)")


@dataclass(frozen=True)
class Claim:
    """Who a file says it is from.

    Attributes:
        name: the student's name, as the system writes it in file names.
        key: Canvas's user id, or Moodle's participant number.
        file: the file's own name, as the student called it.
        late: whether the system says that it is late (Canvas says so; Moodle does not).
        order: grows from an older to a newer file of one student.

    """

    name: str
    key: str
    file: str
    late: bool
    order: tuple[int, int]

    @property
    def plain_file(self) -> str:
        """The file's name without what tells attempts apart."""
        return _ATTEMPT.sub("", self.file.rpartition("/")[2])


def canvas(entry: str) -> list[Claim]:
    """Read a path in Canvas's download in every way in which it has its shape.

    Canvas makes no folders, so that of a path with one either whoever packed the download anew made
    it, or a student with a backslash in a file's name.
    """
    folders, _, name = entry.rpartition("/")
    return [
        Claim(
            text[: found.start()],
            found["key"],
            found["file"],
            bool(found["late"]),
            (int(found["file_id"]), _attempt(found["file"])),
        )
        for text in (name, folders)
        for found in _CANVAS.finditer(text)
    ]


def moodle(entry: str) -> list[Claim]:
    """Read a path in Moodle's download; nothing if it is not of its shape."""
    found = _moodle(entry)
    if found is None:
        return []
    return [Claim(found["name"], found["key"], found["file"], False, (0, _attempt(found["file"])))]


def moodle_place(entry: str) -> str:
    """Return what Moodle wrote of a path in its download, before the student's file; "" if none."""
    found = _moodle(entry)
    return entry[: found.start("file")] if found else ""


def _moodle(entry: str) -> re.Match[str] | None:
    found = _MOODLE.match(entry)
    return found if found and found["plugin"] == "file" else None


def is_typed(system: str, entry: str) -> bool:
    """Return whether a path is of what students type into a form: no file of theirs."""
    if system == "canvas":
        return bool(_TYPED.search(entry))
    found = _MOODLE.match(entry)
    return found is not None and found["plugin"] != "file"


def nameless(system: str, entry: str) -> str:
    """Return why a path in a download says nothing of whose it is."""
    if system == "canvas" and _ANONYMOUS.match(entry.rpartition("/")[2]):
        return hidden(system)
    return f"its name is not one that {system.title()} gives"


def hidden(system: str) -> str:
    """Return what to do where a system does not tell names."""
    return (
        f"{system.title()} does not tell whose it is, for the assignment is anonymous: make the "
        "names visible there and download it again"
    )


READERS: Final[Mapping[str, Callable[[str], list[Claim]]]] = {"canvas": canvas, "moodle": moodle}


def _attempt(file: str) -> int:
    """Return 1 for ``x-1.ipynb`` or ``x (1).ipynb``, 0 for ``x.ipynb``."""
    found = _ATTEMPT.search(file)
    return int(found[1] or found[2]) if found else 0


def hides_name(system: str, claim: Claim) -> bool:
    """Return whether the system keeps to itself who handed a file in."""
    if system == "canvas":
        return claim.name.lower() in ("anon", "anonymous")
    return bool(re.fullmatch(rf"\D+ {claim.key}", claim.name))
