"""The graded copy of a submission: the student's cells, the trusted tests, our verdicts.

It is built from scratch from plain text and pictures, so that nothing else in a submission
(outputs, scripts, metadata) reaches the pages that others open.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from grader.authoring.lesson import Lesson
from grader.authoring.notebook import METADATA, source_notebook
from grader.course.beside import OUTCOME
from grader.judging.outcome import ExerciseResult, Outcome, Status
from grader.notebook_file import Malformed
from grader.reading.known_cells import shown_cells
from grader.reading.submission import SubmittedCell, read_submission
from grader.recording.sanitize import Pictures, StudentTexts, safe_note
from grader.workers.protocol import encodable
from utils.checks.render import as_mimebundle

CopiedCell = dict[str, Any]
_RELEASED: Final[dict[str, dict[str, Any]]] = {}  # lesson -> its own cells by id


class _Entry(NamedTuple):
    """A cell as submitted: plain text, and pictures if it is markdown."""

    kind: str
    source: str
    name: str = ""
    pictures: Pictures | None = None


def graded_notebook(data: bytes, lesson: Lesson, outcome: Outcome, about: Mapping[str, Any]) -> Any:
    """Make the graded copy.

    Args:
        data: the notebook as submitted; if it is malformed, the copy holds only the tests.
        lesson: the trusted lesson.
        outcome: the submission's grade.
        about: what was graded, and by what; kept with the status in the copy's metadata.

    """
    cells = [*_notes(outcome), *_cells(data, lesson, outcome)]
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number:04d}"
    told: dict[str, Any] = {"status": outcome.status, "notes": list(outcome.notes)}
    metadata = METADATA | {OUTCOME: {**told, **about}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _notes(outcome: Outcome) -> list[CopiedCell]:
    lines = [f"- {safe_note(note)}" for note in outcome.notes]
    if outcome.status != Status.GRADED:
        lines.insert(0, f"**Status: {outcome.status}**\n")
    return [_cell("markdown", "\n".join(lines))] if lines else []


def _cell(kind: str, source: str, metadata: Any = None, outputs: Any = None) -> CopiedCell:
    """Make a cell as plain data: nbformat would validate it, which takes longer than grading."""
    cell = {"cell_type": kind, "source": source, "metadata": metadata or {}}
    if kind == "code":
        cell |= {"outputs": outputs or [], "execution_count": 1 if outputs else None}
    return cell


def _released(lesson: Lesson) -> dict[str, Any]:
    if lesson.name not in _RELEASED:
        _RELEASED[lesson.name] = {cell.id: cell for cell in source_notebook(lesson).cells}
    return _RELEASED[lesson.name]


def _cells(data: bytes, lesson: Lesson, outcome: Outcome) -> Iterator[CopiedCell]:
    """Yield the student's cells in order, each test once, after its exercise if it was missing."""
    tests = {f"test_{result.exercise}": result for result in outcome.results}
    released = _released(lesson)
    entries = _entries(data, lesson)
    last = {entry.name: place for place, entry in enumerate(entries) if entry.name}
    missing = [name for name in tests if name not in last]
    for place, entry in enumerate(entries):
        name = entry.name
        is_home = last.get(name) == place
        if name not in tests:
            yield _student_cell(entry, released.get(name) if is_home else None)
        elif is_home:
            yield _test_cell(released[name], tests[name])
        if is_home and f"test_{name}" in missing:
            missing.remove(f"test_{name}")
            yield _test_cell(released[f"test_{name}"], tests[f"test_{name}"])
    for name in missing:
        yield _test_cell(released[name], tests[name])


def _entries(data: bytes, lesson: Lesson) -> list[_Entry]:
    """Return every cell that is one; none if the submission is malformed."""
    try:
        notebook, submitted = read_submission(data)
    except Malformed:
        return []
    texts = StudentTexts({c.source for c in lesson.cells if c.kind == "markdown"})
    return [
        _Entry("code", encodable(cell.source), cell.name)
        if cell.kind == "code"
        else _text_entry(notebook["cells"][cell.index], cell, texts)
        for cell in shown_cells(lesson, submitted)
    ]


def _text_entry(cell: CopiedCell, read: SubmittedCell, texts: StudentTexts) -> _Entry:
    attachments = cell.get("attachments") if read.kind == "markdown" else None
    source, pictures = texts.shown(read.source, attachments)
    return _Entry(read.kind, source, pictures=pictures)


def _student_cell(entry: _Entry, released: Any) -> CopiedCell:
    ours = released is not None and "nbgrader" in released.metadata
    metadata = {"nbgrader": dict(released.metadata.nbgrader)} if ours else None
    attachments = {"attachments": entry.pictures} if entry.pictures else {}
    return _cell(entry.kind, entry.source, metadata) | attachments


def _test_cell(released: Any, result: ExerciseResult) -> CopiedCell:
    outputs: list[Any] = [
        {"output_type": "display_data", "metadata": {}, "data": _shown(result)},
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "metadata": {},
            "data": {"text/plain": f"{result.score:g}"},
        },
    ]
    if result.note:
        outputs.insert(1, {"output_type": "stream", "name": "stdout", "text": f"{result.note}\n"})
    return _cell("code", released.source, {"nbgrader": dict(released.metadata.nbgrader)}, outputs)


def _shown(result: ExerciseResult) -> dict[str, Any]:
    if result.verdict is None:
        return {"text/plain": "Not graded."}
    return as_mimebundle(result.verdict)
