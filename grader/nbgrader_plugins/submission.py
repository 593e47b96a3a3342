"""Submissions: a damaged cell must cost students no more than that cell.

nbgrader stops the whole batch at one duplicated cell (its issue 1083), and gives full marks for a
test cell whose value is negative, not a number, or missing.
"""

import math
import os
from typing import Any

from nbformat.v4 import new_code_cell, new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade

from grader.course.outcome_key import OUTCOME


class RepairCells(NbGraderPreprocessor):
    """Give every graded cell the metadata it was released with, once, and restore missing ones.

    This replaces nbgrader's DeduplicateIds. The last copy counts, as in the kernel.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Repair a submitted notebook in place; the gradebook says what it must hold."""
        nb.metadata.pop(OUTCOME, None)  # what a graded copy says of itself is not theirs to say
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            notebook = gradebook.find_notebook(about["notebook"], about["assignment"])
            released = _released_metadata(notebook)
        missing = _restore_metadata(nb.cells, released)
        for name in missing:
            self.log.warning("Cell %s was missing from the submission; it is added again", name)
            _add_cell(nb.cells, name, released[name])
        return nb, resources


class RunCells(Execute):
    """Run a submission in a kernel that imports nothing from the folder it works in."""

    def setup_kernel(self, **options: Any) -> Any:
        """Return the kernel's context, as nbclient does."""
        return super().setup_kernel(env=os.environ | {"PYTHONSAFEPATH": "1"}, **options)


class SettleScores(NbGraderPreprocessor):
    """Give a test cell points only for one number from 0 to its points; stderr costs nothing."""

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        """Mark a test cell without a valid score as failed; nbgrader then gives 0."""
        if cell.cell_type != "code" or not is_grade(cell):
            return cell, resources
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed or not _has_score(cell):
            # nbgrader would take a value before an error, and stop at one that is too high
            cell.outputs = [output for output in cell.outputs if not _is_result(output)]
            cell.outputs += [] if failed else [_no_score()]
        return cell, resources


def _released_metadata(notebook: Any) -> dict[str, dict[str, Any]]:
    """Return nbgrader's metadata by cell name, exercises before tests."""
    points = {cell.name: cell.max_score for cell in notebook.grade_cells}
    found = {}
    for cell in sorted(notebook.source_cells, key=lambda cell: (cell.name in points, cell.name)):
        is_test = cell.name in points
        found[cell.name] = {
            "cell_type": cell.cell_type,
            "checksum": cell.checksum,
            "grade": is_test,
            "grade_id": cell.name,
            "locked": cell.locked,
            "schema_version": 3,
            "solution": not is_test,
            "task": False,
        } | ({"points": points[cell.name]} if is_test else {})
    return found


def _restore_metadata(cells: list[Any], released: dict[str, dict[str, Any]]) -> list[str]:
    """Set every known cell's metadata, remove all other; return the names not found."""
    missing = dict.fromkeys(released)
    for cell in reversed(cells):
        name = _claimed_name(cell.metadata.pop("nbgrader", None))
        if name in missing:
            cell.metadata["nbgrader"] = dict(released[name])
            del missing[name]
    return list(missing)


def _claimed_name(metadata: Any) -> str:
    name = metadata.get("grade_id") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _add_cell(cells: list[Any], name: str, metadata: dict[str, Any]) -> None:
    """Add an empty cell: a test after its exercise, an exercise at the end.

    nbgrader's OverwriteCells then fills in the source of a test.
    """
    note = "" if metadata["locked"] else f"# The cell of {name} was missing from the submission."
    cell = new_code_cell(note, metadata={"nbgrader": dict(metadata)})
    places = [n for n, other in enumerate(cells, 1) if _is_exercise_of(other, name)]
    cells.insert(places[0] if places else len(cells), cell)


def _is_exercise_of(cell: Any, test_name: str) -> bool:
    name = _claimed_name(cell.metadata.get("nbgrader"))
    return bool(name) and test_name == f"test_{name}"


def _has_score(cell: Any) -> bool:
    results = [output for output in cell.outputs if _is_result(output)]
    if len(results) != 1:
        return False
    try:
        score = float(results[0].data.get("text/plain", ""))
    except ValueError:
        return False
    return math.isfinite(score) and 0 <= score <= cell.metadata.nbgrader.points


def _is_result(output: Any) -> bool:
    return bool(output.output_type == "execute_result")


def _no_score() -> Any:
    """Return the output that makes nbgrader give 0 and tells the reader why."""
    message = "This test gave no score, so it earns 0 points. Was `check` replaced or interrupted?"
    return new_output("error", ename="NoScore", evalue=message, traceback=[message])
