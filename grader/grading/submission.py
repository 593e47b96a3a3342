"""Read a submitted notebook: whatever bytes it holds, the result is cells or a sentence."""

from dataclasses import dataclass
from typing import Any, Final

from grader.notebook_file import Malformed, read_notebook

MOST_SOURCE: Final = 256 << 10  # characters, in all code cells together


@dataclass(frozen=True)
class CodeCell:
    """One code cell as submitted.

    Attributes:
        name: nbgrader's grade_id, if the cell has one ("split_heads", "test_split_heads").
        skipped: whether it is tagged as a demonstration that grading need not run.
        index: its place among all cells of the notebook.

    """

    source: str
    name: str
    skipped: bool
    index: int


def read_submission(data: bytes) -> tuple[dict[str, Any], list[CodeCell]]:
    """Read a notebook (format 4).

    Returns:
        The notebook as plain data, and its code cells in order.

    Raises:
        Malformed: with one sentence on what is wrong and what to do.

    """
    notebook = read_notebook(data)
    cells = [_code_cell(cell, i) for i, cell in enumerate(notebook["cells"]) if _is_code(cell)]
    code = [cell for cell in cells if cell is not None]
    if sum(len(cell.source) for cell in code) > MOST_SOURCE:
        raise Malformed(
            "The notebook's code cells hold more than 256 KiB of text, more than grading reads. "
            "Take out what the lesson does not need and submit it again."
        )
    return notebook, code


def _is_code(cell: object) -> bool:
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def _code_cell(cell: dict[str, Any], index: int) -> CodeCell | None:
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    metadata = cell.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return CodeCell(source, _grade_id(metadata), _is_skipped(metadata), index)


def _grade_id(metadata: dict[str, Any]) -> str:
    own = metadata.get("nbgrader")
    name = own.get("grade_id") if isinstance(own, dict) else None
    return name if isinstance(name, str) else ""


def _is_skipped(metadata: dict[str, Any]) -> bool:
    tags = metadata.get("tags")
    return isinstance(tags, list) and "skip-grading" in tags
