"""A graded copy, read for pages: a student's code, and what its tests brought to light."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from grader.course.graded_copies import FirstTry, read_first_tries
from grader.course.outcome_key import OUTCOME
from grader.course.verdicts import ShownVerdict, read_verdict, what_was_seen
from grader.errors import CourseError
from grader.nbgrader_plugins.feedback import ANSI, without_lines
from grader.pages.pictures import heat_maps
from grader.regular_file import Unreadable, read_plain
from utils.checks.framework.mime import MIME

MOST_BYTES: Final = 64 << 20
MOST_CODE: Final = 12_000  # characters of one answer
MOST_NOTE: Final = 1_000
MOST_NOTES: Final = 20
CUT: Final = "\n... (cut here: too long for this page)"


@dataclass(frozen=True)
class Answer:
    """One exercise in a graded copy.

    Attributes:
        source: the student's own code.
        verdict: None if nothing was judged.
        seen: what was expected and the result, as text.
        maps: the same as pictures, with their labels.
        notes: sentences beside the verdict, for example why an answer was refused.

    """

    source: str = ""
    verdict: ShownVerdict | None = None
    seen: str = ""
    maps: tuple[tuple[str, Markup], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CopyToShow:
    """A graded copy: status, notes and first tries as graded_copies has them, every exercise."""

    status: str
    notes: tuple[str, ...]
    answers: Mapping[str, Answer] = field(default_factory=dict)
    first_tries: Mapping[str, FirstTry] = field(default_factory=dict)


def copy_path(folder: Path, student: str, lesson: str) -> Path:
    """Return where a graded copy is."""
    return folder / "autograded" / student / lesson / f"{lesson}.ipynb"


def copy_digest(path: Path) -> str:
    """Identify a graded copy by its content; "" if there is none, or it cannot be read."""
    try:
        data = read_plain(path, MOST_BYTES + 1)
    except Unreadable:  # whoever reads it to show it tells that
        return ""
    return hashlib.sha256(data).hexdigest() if data else ""


def read_to_show(path: Path, exercises: Iterable[str], hidden: Collection[str]) -> CopyToShow:
    """Read a graded copy.

    Args:
        path: the notebook.
        exercises: the lesson's, by id.
        hidden: lines of the lesson's hidden tests, which nothing may show.

    Raises:
        CourseError: it is no notebook, far too large, or cannot be read.

    """
    notebook = _notebook(path)
    about = _dict(_dict(notebook.get("metadata")).get(OUTCOME))
    cells = {_grade_id(cell): cell for cell in notebook["cells"] if isinstance(cell, dict)}
    answers = {
        name: _answer(cells.get(name, {}), cells.get(f"test_{name}", {}), hidden)
        for name in exercises
    }
    notes = [note for note in _list(about.get("notes")) if isinstance(note, str)]
    status = about.get("status")
    return CopyToShow(
        status if isinstance(status, str) else "graded",
        tuple(_bounded(note, MOST_NOTE) for note in notes[:MOST_NOTES]),
        answers,
        read_first_tries(about),
    )


def _notebook(path: Path) -> dict[str, Any]:
    try:
        data = read_plain(path, MOST_BYTES + 1) or b""
    except Unreadable as error:
        raise CourseError(f"{error}, then run the same command") from None
    try:
        notebook = json.loads(data) if len(data) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        notebook = None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise CourseError("its graded copy cannot be read; grade it again with --regrade")
    return notebook


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _grade_id(cell: dict[str, Any]) -> str:
    name = _dict(_dict(cell.get("metadata")).get("nbgrader")).get("grade_id")
    return name if isinstance(name, str) else ""


def _answer(cell: dict[str, Any], test: dict[str, Any], hidden: Collection[str]) -> Answer:
    outputs = [output for output in _list(test.get("outputs")) if isinstance(output, dict)]
    source = _bounded(_joined(cell.get("source")), MOST_CODE)
    judged = [
        (verdict, data)
        for data in (_dict(output.get("data")) for output in outputs)
        if (verdict := read_verdict(_joined(data.get(MIME)))) is not None
    ]
    notes = tuple(without_lines(note, hidden) for note in _notes(outputs))
    if not judged:
        return Answer(source, notes=notes)
    verdict, data = judged[-1]
    seen = what_was_seen(_bounded(_joined(data.get("text/plain")), 4 * MOST_NOTE))
    maps = heat_maps(_joined(data.get("text/html")))
    return Answer(source, verdict, without_lines(seen, hidden), tuple(maps), notes)


def _notes(outputs: list[dict[str, Any]]) -> Iterable[str]:
    """Yield what was printed and raised beside the verdict, without tracebacks."""
    for output in outputs[:MOST_NOTES]:
        text = _joined(output.get("text")).strip()
        if output.get("output_type") == "error":
            text = f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
        if text:
            yield ANSI.sub("", _bounded(text, MOST_NOTE))


def _joined(value: object) -> str:
    """Return a text that a notebook keeps whole or in lines; "" for anything else."""
    parts = value if isinstance(value, list) else [value]
    return "".join(part for part in parts if isinstance(part, str))


def _bounded(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + CUT
