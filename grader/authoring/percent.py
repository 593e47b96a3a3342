"""Read a lesson's text (jupytext's py:percent) into cells that know their line."""

import re
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import jupytext
import nbformat

from grader.errors import CourseError

MARKER = re.compile(r"# ?%%+(\s.*)?")


@dataclass(frozen=True)
class Cell:
    """One cell of a lesson's text.

    `header` holds the options of its `# %%` line, as written; `line` is that line's number,
    counted from 1. The source begins on the next line.
    """

    kind: str
    source: str
    line: int
    header: dict[str, Any]

    @property
    def exercise(self) -> str | None:
        """The exercise whose answer the student writes here, if any."""
        return self.header.get("exercise")

    @property
    def test(self) -> str | None:
        """The exercise that this cell grades, if any."""
        return self.header.get("test")

    @property
    def tags(self) -> list[str]:
        """The tags, as written in the header."""
        return list(self.header.get("tags", []))


def read_cells(text: str, name: str) -> list[Cell]:
    """Return the cells of a lesson's text; `name` is the file's name in messages."""
    return [replace(cell, header=deepcopy(cell.header)) for cell in _read_once(text, name)]


@lru_cache(maxsize=64)
def _read_once(text: str, name: str) -> tuple[Cell, ...]:
    """Read a text, and keep what it holds: a run reads every lesson for each of its steps."""
    try:
        body = jupytext.reads(text, fmt="py:percent").cells
    except nbformat.ValidationError as error:
        reason = str(error).split("\n", 1)[0]
        raise CourseError(f"{name}: the options of a header are not valid: {reason}") from None
    lines = [n for n, line in enumerate(text.splitlines(), 1) if MARKER.fullmatch(line)]
    if len(lines) != len(body):
        raise CourseError(
            f"{name}: {len(lines)} lines begin with `# %%` but {len(body)} cells were read. "
            "Put every line of the file under a `# %%` header, and none inside a string."
        )
    return tuple(_cell(node, line) for node, line in zip(body, lines, strict=True))


def _cell(node: Any, line: int) -> Cell:
    """Turn jupytext's cell into ours, without what jupytext adds for itself."""
    header = {k: v for k, v in node.metadata.items() if k != "lines_to_next_cell"}
    return Cell(node.cell_type, node.source, line, header)
