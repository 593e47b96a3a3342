"""Read a submitted notebook: whatever bytes it holds, the result is cells or a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.notebook_file import Malformed, read_notebook

KINDS: Final = ("code", "markdown", "raw")
MOST_SOURCE: Final = 256 << 10  # characters, in all code cells together


@dataclass(frozen=True)
class SubmittedCell:
    """One cell as submitted.

    Attributes:
        name: nbgrader's grade_id, if the cell has one ("split_heads", "test_split_heads").
        skipped: whether it is tagged as a demonstration that grading need not run.
        index: its place among all cells of the notebook.
        kind: its type, "code", "markdown" or "raw": not always what it holds.
        id: the notebook's own, if it has one.

    """

    source: str
    name: str
    skipped: bool
    index: int
    kind: str
    id: str


def read_submission(data: bytes) -> tuple[dict[str, Any], list[SubmittedCell]]:
    """Read a notebook (format 4).

    Returns:
        The notebook as plain data, and its cells in order.

    Raises:
        Malformed: with one sentence on what is wrong and what to do.

    """
    notebook = read_notebook(data)
    cells = submitted_cells(notebook["cells"])
    verify_size([cell for cell in cells if cell.kind == "code"])
    return notebook, cells


def verify_size(code: Sequence[SubmittedCell]) -> None:
    """Verify that cells of code hold no more text than grading reads.

    Raises:
        Malformed: they do.

    """
    if sum(len(cell.source) for cell in code) > MOST_SOURCE:
        raise Malformed(
            "The notebook's code cells hold more than 256 KiB of text, more than grading reads. "
            "Take out what the lesson does not need and submit it again."
        )


def submitted_cells(cells: Sequence[object]) -> list[SubmittedCell]:
    """Return those of a notebook's cells that are cells with a text."""
    found = (_cell(cell, index) for index, cell in enumerate(cells) if isinstance(cell, dict))
    return [cell for cell in found if cell is not None]


def _cell(cell: dict[str, Any], index: int) -> SubmittedCell | None:
    source, kind, own_id = cell.get("source", ""), cell.get("cell_type"), cell.get("id")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str) or kind not in KINDS:
        return None
    metadata = cell.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name, skipped = _grade_id(metadata), _is_skipped(metadata)
    return SubmittedCell(
        source, name, skipped, index, kind, own_id if isinstance(own_id, str) else ""
    )


def _grade_id(metadata: dict[str, Any]) -> str:
    own = metadata.get("nbgrader")
    name = own.get("grade_id") if isinstance(own, dict) else None
    return name if isinstance(name, str) else ""


def _is_skipped(metadata: dict[str, Any]) -> bool:
    tags = metadata.get("tags")
    return isinstance(tags, list) and "skip-grading" in tags
