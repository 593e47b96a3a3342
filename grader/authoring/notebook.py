"""A lesson as a notebook: headers expanded to nbgrader's metadata, stable ids, stable bytes."""

import ast
import copy
import hashlib
import json
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.authoring.lesson import Lesson
from grader.authoring.percent import Cell

# Fixed, so that another patch version of Python builds the same bytes.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}

RUN = "outputs_of_run"  # metadata: a digest of all outputs


def source_notebook(lesson: Lesson) -> Any:
    """Return the lesson's notebook with its answers, not yet run."""
    return new_notebook(cells=list(map(_cell, lesson.cells)), metadata=copy.deepcopy(METADATA))


def as_text(notebook: Any) -> str:
    """Return the notebook's file content: sorted keys, one final newline."""
    return str(nbformat.writes(notebook, version=4)).rstrip("\n") + "\n"


def without_outputs(notebook: Any) -> Any:
    """Return a copy of a notebook as if it had never been run."""
    bare = copy.deepcopy(notebook)
    bare.metadata.pop(RUN, None)
    for cell in _code(bare):
        cell.outputs, cell.execution_count = [], None
    return bare


def with_run_of(built: Any, notebook: Any) -> Any:
    """Return a notebook with the outputs of the built one; None unless its code was run as it is.

    What a text cell says changes no output.
    """
    ran, code = _code(built), _code(notebook)
    if not was_run(built) or [_asked(c) for c in ran] != [_asked(c) for c in code]:
        return None
    notebook = copy.deepcopy(notebook)
    for cell, before in zip(_code(notebook), ran, strict=True):
        cell.outputs, cell.execution_count = before.outputs, before.execution_count
    if RUN in built.metadata:
        notebook.metadata[RUN] = built.metadata[RUN]
    return notebook


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _asked(cell: Any) -> Any:
    """Return what a code cell's outputs depend on: not its comments, nor whether it is folded."""
    tags = [tag for tag in cell.metadata.get("tags", []) if tag != "folded"]
    try:
        code = ast.dump(ast.parse(cell.source))
    except SyntaxError:  # a magic
        code = cell.source
    return cell.id, code, tags, cell.metadata.get("nbgrader")


def was_run(notebook: Any) -> bool:
    """Return whether every code cell has an execution count."""
    return all(cell.execution_count is not None for cell in _code(notebook))


def sign_run(notebook: Any) -> None:
    """Note which outputs the run has left that has just ended.

    A merge of two branches takes some cells' outputs from one run and some from another, whose
    figures and pictures then contradict each other: a test of ours looks for that.
    """
    notebook.metadata[RUN] = digest_of_outputs(notebook)


def digest_of_outputs(notebook: Any) -> str:
    """Return what changes with any output of any cell."""
    outputs = [cell.outputs for cell in _code(notebook)]
    return hashlib.sha256(json.dumps(outputs, sort_keys=True).encode()).hexdigest()


def _cell(cell: Cell) -> Any:
    if cell.kind == "markdown":
        return new_markdown_cell(cell.source, id=cell.id)
    return new_code_cell(cell.source, id=cell.id, metadata=_metadata(cell))


def _metadata(cell: Cell) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if cell.exercise or cell.test:
        metadata["nbgrader"] = _nbgrader(cell)
    if cell.tags:
        metadata["tags"] = _tags(cell)
    if "folded" in cell.tags:
        metadata["jupyter"] = {"source_hidden": True}
    return metadata


def _tags(cell: Cell) -> list[str]:
    """Return the cell's tags, plus the one that makes nbval ignore a measured output."""
    return cell.tags + (["nbval-ignore-output"] if "measured" in cell.tags else [])


def _nbgrader(cell: Cell) -> dict[str, Any]:
    """Return nbgrader's cell metadata, schema version 3."""
    is_test = cell.test is not None
    metadata = {
        "cell_type": "code",
        "grade": is_test,
        "grade_id": cell.id,
        "locked": is_test,
        "schema_version": 3,
        "solution": not is_test,
        "task": False,
    }
    return metadata | ({"points": cell.header["points"]} if is_test else {})
