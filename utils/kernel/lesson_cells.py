"""The cells of the notebook that a kernel belongs to, as they were saved."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from utils.kernel.cell_names import CellNames, functions_in, names_of

COURSE = Path(__file__).resolve().parents[2]
HEADING = re.compile(r"^#{1,6} +(.+)$", re.M)
LONGEST = 60  # characters of a line that names a cell


@dataclass(frozen=True)
class LessonCell:
    """A code cell of the notebook.

    Attributes:
        cell: its id; "" if it has none.
        source: its code.
        heading: the heading that it stands under.
        above: the cells before it.

    """

    cell: str
    source: str
    heading: str
    above: "tuple[LessonCell, ...]"

    @cached_property
    def names(self) -> CellNames:
        """Return the names that it makes, needs and changes, with the cells before it."""
        return names_of(
            self.source, {k: v for c in self.above for k, v in functions_in(c.source).items()}
        )

    def __str__(self) -> str:
        """Return how a reader finds it: by its first line, or by the comment there."""
        where = f" under “{self.heading}”" if self.heading else ""
        return f"{called(self.source)}{where}"


def called(cell: str) -> str:
    """Return a cell's first line, which names it for a reader."""
    first = next((line.strip() for line in cell.splitlines() if line.strip()), "")
    short = first if len(first) <= LONGEST else f"{first[:LONGEST]} ..."
    return f"the cell “{short.lstrip('# ')}”" if first[:1] == "#" else f"the cell `{short}`"


def lesson_cells() -> list[LessonCell]:
    """Return the notebook's code cells in order; none if no notebook is found."""
    for notebook in _places():
        try:
            return list(_code_cells(notebook))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return []


def _places() -> Iterator[Path]:
    """Yield where the notebook may lie: as Jupyter says, or under its lesson's name."""
    if said := os.environ.get("JPY_SESSION_NAME"):
        yield Path(said)
    try:
        here = Path.cwd()
    except OSError:  # the folder is gone
        return
    yield here / f"{here.name}.ipynb"
    yield COURSE / "notebooks" / here.name / f"{here.name}.ipynb"


def _code_cells(notebook: Path) -> Iterator[LessonCell]:
    heading, above = "", list[LessonCell]()
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])  # one text, or lines
        if cell["cell_type"] == "markdown" and (found := HEADING.findall(text)):
            heading = found[-1].replace("`", "")
        elif cell["cell_type"] == "code":
            above.append(LessonCell(str(cell.get("id", "")), text, heading, tuple(above)))
            yield above[-1]
