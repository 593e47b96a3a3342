"""Read a notebook file; tell which file of a hand-in is its notebook, and of which lesson it is.

Browsers and systems write ``02_attention (1).ipynb``, ``02_attention.ipynb.txt`` or ``.json``;
other programs drop cells' names and ids. What grading can read is a notebook, however it came.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grader.authoring.lesson import Lesson
from grader.notebook_limits import MOST_BYTES, MOST_PARTS, parts_of
from grader.regular_file import read_plain

ENDING: Final = ".ipynb"
MOST_CELLS: Final = 2000
MOST_TRIED: Final = 8  # files of a hand-in without a notebook of the right name
_DEFINES: Final = re.compile(
    r"^(?:(?:async +)?(?:def|class) +(\w+)|(\w+) *(?::[^=\n]*)?=(?!=))", re.MULTILINE
)
NO_LESSONS: Final = (
    "it is a notebook with none of the course's cells: neither their names nor a definition of "
    "what a lesson asks for is in it"
)


class Malformed(Exception):
    """A submission that cannot be graded as a notebook; the message tells the student why."""


def read_notebook(data: bytes) -> dict[str, Any]:
    """Read a notebook (format 4), whatever bytes it holds, as plain data with a list of cells.

    Raises:
        Malformed: with one sentence on what is wrong and what to do.

    """
    if not data:
        raise Malformed(
            "There is no notebook under the lesson's own name, or it is empty or only a link. Give "
            "the file its name back and submit it again."
        )
    if len(data) > MOST_BYTES:
        raise Malformed(
            f"The notebook is larger than {MOST_BYTES >> 20} MiB. Clear its outputs and submit it "
            "again."
        )
    if parts_of(data) > MOST_PARTS:
        raise Malformed(
            "The notebook holds more numbers or texts than grading reads. Clear its outputs and "
            "submit it again."
        )
    try:
        notebook = json.loads(data.decode("utf-8-sig"))  # some editors put a mark in front
    except UnicodeDecodeError:
        raise Malformed(
            "The file is not UTF-8 text. Save it from JupyterLab and submit it again."
        ) from None
    except (ValueError, RecursionError):
        raise Malformed(
            "The file is not a notebook (it is not JSON). Open it in JupyterLab, save it there, "
            "and submit it again."
        ) from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Malformed(_why_no_cells(notebook))
    if len(notebook["cells"]) > MOST_CELLS:
        raise Malformed(f"The notebook has more than {MOST_CELLS} cells. Remove what you added.")
    return notebook


def _why_no_cells(notebook: object) -> str:
    if isinstance(notebook, dict) and "worksheets" in notebook:
        return (
            "The notebook is in an old format (3). Open it in JupyterLab, save it there, and "
            "submit it again."
        )
    return "The file has no list of cells. Fetch the lesson again and copy your answers into it."


def lesson_of(data: bytes, lessons: Sequence[Lesson]) -> Lesson:
    """Return the lesson of a notebook: by its cells' names and ids, else by what it defines.

    Raises:
        Malformed: grading could not read it, or it is of no lesson, or of two alike.

    """
    cells = [cell for cell in read_notebook(data)["cells"] if isinstance(cell, dict)]
    known = {exercise.id: lesson for lesson in lessons for exercise in lesson.exercises}
    homes = {exercise: lesson.name for exercise, lesson in known.items()}
    names = [name for cell in cells for name in _names(cell)]
    counts = lessons_in(names, map(_source, cells), homes).most_common(2)
    if not counts:
        raise Malformed(NO_LESSONS)
    (best, most), *others = counts
    if others and others[0][1] == most:
        raise Malformed(f"it has as much of {best} as of {others[0][0]}: ask which it is")
    return next(lesson for lesson in lessons if lesson.name == best)


def lessons_in(
    names: Iterable[str], sources: Iterable[str], homes: Mapping[str, str]
) -> Counter[str]:
    """Return how many exercises of which lessons a notebook has: by names, else by definitions.

    Args:
        names: those that its cells claim, of exercises or of their tests.
        sources: its cells' texts; all metadata may be lost.
        homes: exercise -> lesson.

    """
    defined = (x for source in sources for pair in _DEFINES.findall(source) for x in pair)
    for given in (names, defined):
        found = {name if name in homes else name.removeprefix("test_") for name in given}
        if counts := Counter(home for name, home in homes.items() if name in found):
            return counts
    return Counter()


def _names(cell: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names that a cell claims: nbgrader's and its own id."""
    metadata = cell.get("metadata")
    own = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    for name in (own.get("grade_id") if isinstance(own, dict) else None, cell.get("id")):
        if isinstance(name, str):
            yield name


def _source(cell: Mapping[str, Any]) -> str:
    lines = cell.get("source")
    parts = lines if isinstance(lines, list) else [lines]
    return "".join(part for part in parts if isinstance(part, str))


def notebook_in(folder: Path, names: Collection[str], lesson: str) -> str:
    """Return the name of a hand-in's notebook; the lesson's own where no other file is one.

    Of several notebooks none of which has the lesson's name, that is taken which has it in its
    name; else none is.

    Args:
        folder: the hand-in.
        names: of all that is in it.
        lesson: the lesson that it was handed in for.

    Raises:
        Unreadable: a file that may be it cannot be read.

    """
    own = f"{lesson}{ENDING}"
    if own in names:
        return own
    # The likely ones first: whoever fills a folder can put thousands of files into it.
    others = sorted(names, key=lambda name: (lesson not in name, not may_be_meant(name), name))
    found = [name for name in others[:MOST_TRIED] if is_notebook(folder / name)]
    likely = [name for name in found if lesson in name] or found
    return likely[0] if len(likely) == 1 else own


def may_be_meant(name: str) -> bool:
    """Return whether a file's name says that it is a notebook, whatever follows."""
    return ENDING in name.lower()


def is_notebook(path: Path) -> bool:
    """Return whether a file is a notebook that grading could read."""
    data = read_plain(path, MOST_BYTES + 1)
    try:
        return data is not None and bool(read_notebook(data))
    except Malformed:
        return False
