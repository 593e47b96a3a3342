"""Submissions: a damaged cell must cost students no more than that cell.

nbgrader stops the whole batch at one duplicated cell (its issue 1083), and gives full marks for a
test cell whose value is negative, not a number, or missing.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import DeduplicateIds, Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade
from traitlets import Unicode

from grader.authoring.lesson import lessons
from grader.course.beside import OUTCOME, VERDICT
from grader.reading.arrangement import Arrangement, arranged
from grader.reading.cell_notes import notes_on
from grader.reading.other_lessons import exercises_in
from grader.reading.submission import SubmittedCell, submitted_cells

SHELL: Final = "get_ipython()"  # in code: what a magic gives has a name
GO_ON: Final = """\
from grader.workers.notebook.cell_code import go_on_in
go_on_in(get_ipython())
del go_on_in"""
SUBMITTED: Final = "submitted"  # metadata: a cell's text, where its code without magics runs


class RepairCells(NbGraderPreprocessor):
    """Make of a submission the notebook that nbgrader runs, as the course's own engine arranges it.

    It has the student's cells in order, each exercise's cell and each test once, with the metadata
    that they were released with. This replaces nbgrader's DeduplicateIds.
    """

    root = Unicode(help="The course's folder, where the lessons' texts are.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Repair a submitted notebook in place; the gradebook says what its cells are called."""
        about = resources["nbgrader"]
        if about["assignment"] not in exercises_in(Path(self.root) / "solutions").values():
            DeduplicateIds(parent=self).preprocess(nb, resources)  # no lesson of the course
            return nb, resources
        with Gradebook(about["db_url"]) as gradebook:
            notebook = gradebook.find_notebook(about["notebook"], about["assignment"])
            released = _released_metadata(notebook)
        (lesson,) = lessons(Path(self.root), [about["assignment"]])
        submitted = submitted_cells(nb.cells)
        found = arranged(lesson, submitted)
        notes = notes_on(lesson, found, submitted)
        nb.cells = list(_repaired(nb.cells, submitted, found, released))
        if notes:
            nb.cells.insert(0, new_markdown_cell("\n".join(f"- {note}" for note in notes)))
        nb.cells.insert(0, new_code_cell(GO_ON))
        for number, cell in enumerate(nb.cells, 1):
            cell.id = f"cell-{number:04d}"  # as in the other engine's copies: no two are the same
        nb.nbformat_minor = 5
        nb.metadata.pop(OUTCOME, None)  # what a graded copy says of itself is not theirs to say
        return nb, resources


class RunCells(Execute):
    """Run a submission in a kernel that imports nothing from the folder it works in."""

    def setup_kernel(self, **options: Any) -> Any:
        """Return the kernel's context, as nbclient does."""
        return super().setup_kernel(env=os.environ | {"PYTHONSAFEPATH": "1"}, **options)


class SettleScores(NbGraderPreprocessor):
    """Give a test cell points only for one number from 0 to its points; stderr costs nothing."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Settle every cell, and take out the one that told the kernel how to run them.

        A verdict.json is not of this engine: a student may have handed one in.
        """
        if folder := resources.get("metadata", {}).get("path"):
            Path(folder, VERDICT).unlink(missing_ok=True)
        nb.cells = [cell for cell in nb.cells if cell.source != GO_ON]
        super().preprocess(nb, resources)
        return nb, resources

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        """Mark a test cell without a valid score as failed; nbgrader then gives 0."""
        if cell.cell_type != "code":
            return cell, resources
        cell.source = cell.metadata.pop(SUBMITTED, cell.source)
        if not is_grade(cell):
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


def _repaired(
    cells: list[Any],
    submitted: Sequence[SubmittedCell],
    found: Arrangement,
    released: Mapping[str, Any],
) -> Iterator[Any]:
    """Yield the cells that run and are shown; nbgrader's OverwriteCells fills in the tests."""
    places = {cell.index: place for place, cell in enumerate(found.cells)}
    homes = {home: name for name, home in found.homes.items()}
    for cell in submitted:
        place = places.get(cell.index)
        if place is None:
            yield _text(cell, cells[cell.index].get("attachments"))
            continue
        code, home = found.cells[place], released.get(homes.get(place, ""))
        about = {"nbgrader": dict(home)} if home else {}
        yield from _code(code, found.runs[place], about, is_test=code.name in found.tests)
        yield from (_test(released, n) for n, at in found.places.items() if at == place)
    yield from (_test(released, name) for name, at in found.places.items() if at is None)


def _text(cell: SubmittedCell, attachments: Any) -> Any:
    """Return a text; code that is one of the lesson's by its content is shown as such."""
    if cell.kind == "raw":
        return new_raw_cell(cell.source)
    pictures = {"attachments": attachments} if isinstance(attachments, dict) else {}
    return new_markdown_cell(cell.source, **pictures)


def _code(
    cell: SubmittedCell, runs: str | None, about: dict[str, Any], *, is_test: bool
) -> Iterator[Any]:
    """Yield a cell as its student wrote it, and what else of it runs where that does not.

    Of a test that is what a student defines beside it; the test itself stands at its place.
    """
    if is_test or cell.skipped or runs is None:
        if not is_test:
            yield new_code_cell(cell.source, metadata={"tags": ["skip-grading"]} | about)
        if runs:
            yield new_code_cell(runs)
        return
    is_plain = cell.source == runs or SHELL in runs
    own = {} if is_plain else {SUBMITTED: cell.source}
    yield new_code_cell(cell.source if is_plain else runs, metadata=about | own)


def _test(released: Mapping[str, Any], exercise: str) -> Any:
    return new_code_cell("", metadata={"nbgrader": dict(released[f"test_{exercise}"])})


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
