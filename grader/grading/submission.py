"""Read a submitted notebook: whatever bytes it holds, the result is cells or a sentence."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.notebook_limits import MOST_BYTES, MOST_PARTS, parts_of

MOST_CELLS: Final = 2000
KINDS: Final = ("code", "markdown", "raw")
MOST_SOURCE: Final = 256 << 10  # characters, in all code cells together


class Malformed(Exception):
    """A submission that cannot be graded as a notebook; the message tells the student why."""


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
    notebook = _as_notebook(data)
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


def _as_notebook(data: bytes) -> dict[str, Any]:
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
