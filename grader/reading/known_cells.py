"""Match a submission's cells that hold code with the lesson's.

A cell is known by its name first, then by its content, last by its type: one key of JupyterLab's
turns code into text, and other programs drop names, ids or all metadata. Nothing here takes more
than the lesson's text and the submission's: nbgrader's steps use it, too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from grader.authoring.lesson import Lesson
from grader.authoring.regions import stubbed, without_hidden
from grader.reading.submission import SubmittedCell
from grader.static_analysis.cells import as_any_editor, is_readable, statements
from grader.static_analysis.written import Form, answers_in, stubs_of

CODE: Final = "code"
FENCED: Final = re.compile(r"\s*```\w*[ \t]*\n(.*)\n```\s*", re.DOTALL)
_KNOWN: Final[dict[int, tuple[Lesson, "Known"]]] = {}


@dataclass(frozen=True)
class Known:
    """A lesson's cells as students get them.

    Attributes:
        stubs: exercise -> the form of its stub.
        tests: the name of each test cell -> its text.
        texts: the texts of all other cells -> their type.
        code: ids of the cells that hold code.

    """

    stubs: Mapping[str, Form]
    tests: Mapping[str, str]
    texts: Mapping[str, str]
    code: frozenset[str]


def known(lesson: Lesson) -> Known:
    """Return a lesson's cells as students get them, read once."""
    if id(lesson) not in _KNOWN:
        stubs = {e.id: stubbed(e.source, e.id) for e in lesson.exercises}
        tests = {f"test_{e.id}": without_hidden(e.test_source) for e in lesson.exercises}
        own = [cell for cell in lesson.cells if not cell.test and not cell.exercise]
        _KNOWN[id(lesson)] = (
            lesson,
            Known(
                stubs_of(stubs),
                {name: as_any_editor(text) for name, text in tests.items()},
                {as_any_editor(cell.source): cell.kind for cell in own},
                frozenset(cell.id for cell in own if cell.kind == CODE),
            ),
        )
    return _KNOWN[id(lesson)][1]


def code_cells(lesson: Lesson, cells: Sequence[SubmittedCell]) -> list[SubmittedCell]:
    """Return the cells that hold code, with the names by which the lesson knows them."""
    ours = known(lesson)
    named = _with_lost_tests(ours, [_named(ours, cell) for cell in cells])
    code = [cell for cell in named if cell.kind == CODE and not _is_our_text(ours, cell)]
    taken = {cell.name for cell in code if not is_readable(cell.source)}
    taken.update(*(_written(ours, cell) for cell in code))
    there = taken | {cell.name for cell in code}
    texts = [cell for cell in named if cell.kind != CODE]
    code += [_as_code(cell) for cell in texts if _holds_code(ours, cell, taken, there)]
    return sorted(code, key=lambda cell: cell.index)


def shown_cells(lesson: Lesson, cells: Sequence[SubmittedCell]) -> list[SubmittedCell]:
    """Return cells with the names and types by which a graded copy shows them.

    None is read as Python: whoever makes copies must not be kept busy by a text.
    """
    ours = known(lesson)
    named = _with_lost_tests(ours, [_named(ours, cell) for cell in cells])
    there = {cell.name for cell in named if cell.kind == CODE}
    return [replace(cell, kind=_shown_kind(ours, cell, there)) for cell in named]


def _shown_kind(ours: Known, cell: SubmittedCell, there: Iterable[str]) -> str:
    if cell.name in ours.tests or (cell.name in ours.stubs and cell.name not in there):
        return CODE
    if cell.name in ours.stubs:
        return cell.kind
    return ours.texts.get(as_any_editor(cell.source), cell.kind)


def _named(ours: Known, cell: SubmittedCell) -> SubmittedCell:
    """Return a cell under its name; its id is the same where nbgrader's metadata are lost."""
    names = [name for name in (cell.name, cell.id) if name in ours.stubs or name in ours.tests]
    return replace(cell, name=names[0] if names else cell.name)


def _with_lost_tests(ours: Known, cells: Sequence[SubmittedCell]) -> list[SubmittedCell]:
    """Return the cells, those among them that are a test by their text alone under its name."""
    lost = ours.tests.keys() - {cell.name for cell in cells}
    wanted = {ours.tests[name]: name for name in lost}
    found = []
    for cell in cells:
        name = "" if cell.name else wanted.pop(as_any_editor(cell.source), "") if wanted else ""
        found.append(replace(cell, name=name) if name else cell)
    return found


def _is_our_text(ours: Known, cell: SubmittedCell) -> bool:
    """Return whether code is a text of the lesson's, by its content."""
    return ours.texts.get(as_any_editor(cell.source), CODE) != CODE


def _holds_code(
    ours: Known, cell: SubmittedCell, taken: Iterable[str], there: Iterable[str]
) -> bool:
    """Return whether a text cell is one of the lesson's code cells, or writes an answer.

    A student who turns an old try into text, and has another one in code, has put it aside.

    Args:
        ours: the lesson's cells.
        cell: one that is no code by its type.
        taken: the exercises that code writes, or tries to write in a cell of that name.
        there: those, and the names of all code cells.

    """
    if cell.name in ours.tests:
        return True
    kind = ours.texts.get(as_any_editor(cell.source))
    if kind is not None:
        return kind == CODE
    if cell.name in ours.stubs and cell.name not in there:
        return True
    code = _as_code(cell)
    if cell.id in ours.code and any(one.bound or one.imports for one in statements(code.source)):
        return True
    return not _written(ours, code).isdisjoint(ours.stubs.keys() - set(taken))


def _written(ours: Known, cell: SubmittedCell) -> set[str]:
    """Return the exercises whose answers a cell writes."""
    if not any(name in cell.source for name in ours.stubs):
        return set()
    return {name for name, is_written in answers_in(cell.source, ours.stubs).items() if is_written}


def _as_code(cell: SubmittedCell) -> SubmittedCell:
    """Return a text cell as code: what is fenced as Markdown has it, on the same lines."""
    fenced = FENCED.fullmatch(cell.source)
    before = cell.source.count("\n", 0, fenced.start(1)) if fenced else 0
    return replace(cell, source="\n" * before + fenced[1] if fenced else cell.source)
