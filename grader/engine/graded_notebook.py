"""The graded copy of a submission: the student's cells, the trusted tests, our verdicts.

Built from scratch out of plain text, so that nothing else of what was submitted (outputs, scripts
in attachments, metadata) reaches the pages that others open.
"""

from collections.abc import Iterator
from typing import Any, Final

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from grader.build.lesson import Lesson
from grader.build.notebook import METADATA, source_notebook
from grader.engine.outcome import ExerciseResult, Outcome
from grader.engine.submission import Malformed, read_submission
from grader.gradebook.copies import OUTCOME

MAKERS: Final = {"markdown": new_markdown_cell, "raw": new_raw_cell, "code": new_code_cell}


def graded_notebook(data: bytes, lesson: Lesson, outcome: Outcome, fingerprint: str) -> Any:
    """Make the graded copy.

    Args:
        data: the notebook as submitted; where it is malformed, the copy holds the tests alone.
        lesson: the trusted lesson.
        outcome: the submission's grade.
        fingerprint: identifies what was graded; kept with the status in the copy's metadata.
    """
    cells = [*_notes(outcome), *_cells(data, lesson, outcome)]
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number:04d}"
    notebook = new_notebook(cells=cells, metadata=dict(METADATA))
    notebook.metadata[OUTCOME] = {
        "status": outcome.status,
        "notes": list(outcome.notes),
        "submission": fingerprint,
    }
    return notebook


def _notes(outcome: Outcome) -> list[Any]:
    lines = [f"- {note}" for note in outcome.notes]
    if outcome.status != "graded":
        lines.insert(0, f"**Status: {outcome.status}**\n")
    return [new_markdown_cell("\n".join(lines))] if lines else []


def _cells(data: bytes, lesson: Lesson, outcome: Outcome) -> Iterator[Any]:
    """The student's cells in their order; each test once, behind its exercise if it was missing."""
    tests = {f"test_{result.exercise}": result for result in outcome.results}
    released = {cell.id: cell for cell in source_notebook(lesson).cells}
    entries = _entries(data)
    last = {name: place for place, (_, _, name) in enumerate(entries) if name}
    missing = [name for name in tests if name not in last]
    for place, (kind, source, name) in enumerate(entries):
        is_home = last.get(name) == place
        if name not in tests:
            yield _student_cell(kind, source, released.get(name) if is_home else None)
        elif is_home:
            yield _test_cell(released[name], tests[name])
        if is_home and f"test_{name}" in missing:
            missing.remove(f"test_{name}")
            yield _test_cell(released[f"test_{name}"], tests[f"test_{name}"])
    for name in missing:
        yield _test_cell(released[name], tests[name])


def _entries(data: bytes) -> list[tuple[str, str, str]]:
    """(cell type, source, name) of every cell; nothing where the submission is malformed."""
    try:
        notebook, code = read_submission(data)
    except Malformed:
        return []
    by_index = {cell.index: cell for cell in code}
    entries = []
    for index, cell in enumerate(notebook["cells"]):
        if index in by_index:
            entries.append(("code", by_index[index].source, by_index[index].name))
        elif isinstance(cell, dict) and cell.get("cell_type") in ("markdown", "raw"):
            entries.append((cell["cell_type"], _text(cell.get("source")), ""))
    return entries


def _text(source: object) -> str:
    parts = source if isinstance(source, list) else [source]
    return "".join(part for part in parts if isinstance(part, str))


def _student_cell(kind: str, source: str, released: Any) -> Any:
    cell = MAKERS[kind](source)
    if released is not None and "nbgrader" in released.metadata:
        cell.metadata["nbgrader"] = dict(released.metadata.nbgrader)
    return cell


def _test_cell(released: Any, result: ExerciseResult) -> Any:
    outputs = [new_output("display_data", data=_shown(result))]
    if result.note:
        outputs.append(new_output("stream", name="stdout", text=result.note + "\n"))
    score = {"text/plain": f"{result.score:g}"}
    outputs.append(new_output("execute_result", data=score, execution_count=1))
    metadata = {"nbgrader": dict(released.metadata.nbgrader)}
    return new_code_cell(released.source, metadata=metadata, outputs=outputs, execution_count=1)


def _shown(result: ExerciseResult) -> dict[str, Any]:
    if result.verdict is None:
        return {"text/plain": "Not graded."}
    return result.verdict._repr_mimebundle_()
