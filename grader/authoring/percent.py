"""Read a lesson's text (jupytext's py:percent) into cells that know their line."""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import jupytext
import nbformat

from grader.errors import CourseError

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
OPENED, CLOSED = re.compile(r"<details\b"), re.compile(r"</details>")
MARKER = re.compile(r"# ?%%+(\s.*)?")


@dataclass(frozen=True)
class Cell:
    """One cell of a lesson, as its text has it, or a part of a text cell (`parts`).

    `header` holds the options of its `# %%` line, as written. `line` is the number, counted from 1,
    of the line before its source. `place` numbers the text's cells and, from the second one on, the
    parts: a text that gets another part moves no other cell.
    """

    kind: str
    source: str
    line: int
    header: dict[str, Any]
    place: str = ""

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

    @property
    def id(self) -> str:
        """The cell's id in the notebook: its exercise's, or its place."""
        return self.exercise or (f"test_{self.test}" if self.test else f"cell-{self.place}")


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
    numbered = enumerate(zip(body, lines, strict=True), 1)
    return tuple(cell for n, (node, line) in numbered for cell in _cells(node, line, n))


def _cells(node: Any, line: int, number: int) -> Iterator[Cell]:
    """Turn jupytext's cell into ours, without what jupytext adds for itself."""
    header = {k: v for k, v in node.metadata.items() if k != "lines_to_next_cell"}
    found = parts(node.source) if node.cell_type == "markdown" else [(0, node.source)]
    for part, (offset, source) in enumerate(found, 1):
        place = f"{number:02d}" + (f"-{part}" if part > 1 else "")
        yield Cell(node.cell_type, source, line + offset, header, place)


def parts(text: str) -> list[tuple[int, str]]:
    """Return a text's parts, a cell each, with the number of its first line, counted from 0.

    A part begins at a heading, at the first of several folds in a row, and after their last one.
    What a fold or a fenced block holds stays together. A check's result appears above the cell that
    follows it: if that cell held the hints, the next section and the next exercise, the result
    would be out of sight as soon as a student goes on.
    """
    lines = text.split("\n")
    starts = [0, *_starts(lines), len(lines)]
    found = [(a, "\n".join(lines[a:b])) for a, b in pairwise(starts)]
    return [(at, part.strip("\n")) for at, part in found if part.strip()] or [(0, text)]


def _starts(lines: list[str]) -> Iterator[int]:
    """Yield the numbers of the lines at which a part begins, the first one aside."""
    depth, fence, is_fold = 0, "", False
    for number, line in enumerate(lines):
        mark = FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        begins_fold = not depth and OPENED.match(line.lstrip()) is not None
        if line.strip() and not depth:
            if number and (HEADING.match(line) or begins_fold != is_fold):
                yield number
            is_fold = begins_fold
        fence = mark[1] if mark else ""
        depth = max(0, depth + len(OPENED.findall(line)) - len(CLOSED.findall(line)))
