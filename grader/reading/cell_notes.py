"""What a student is told about the notebook's cells: missing, twice, unreadable, taken away."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from grader.authoring.lesson import Lesson
from grader.course.wording import first
from grader.reading.arrangement import Arrangement
from grader.reading.homes import defined_anew, hiding
from grader.reading.other_lessons import another_lesson, strangers
from grader.reading.submission import SubmittedCell
from grader.static_analysis.cells import statements
from grader.static_analysis.magics import Taken, taken_by
from grader.static_analysis.syntax import why_unreadable

MOST_TOLD: Final = 20  # cells that are named
MOST_LINE: Final = 60  # characters of a line of code in a sentence
NOTHING_HERE: Final = (
    "None of the lesson's exercises is in this notebook. Fetch the lesson again, copy your answers "
    "into its cells and submit it again."
)


def notes_on(
    lesson: Lesson, found: Arrangement, submitted: Sequence[SubmittedCell]
) -> tuple[str, ...]:
    """Return sentences on the notebook as a whole."""
    if whose := another_lesson(lesson, found, submitted):
        return (whose,)
    missing = tuple(_missing(found, submitted))
    return (*missing, *strangers(lesson, found, submitted), *_cell_by_cell(found, submitted))


def _missing(found: Arrangement, submitted: Sequence[SubmittedCell]) -> Iterator[str]:
    names = [cell.name for cell in found.cells]
    nothing = all(home is None for home in found.homes.values())
    if nothing and found.tests.isdisjoint(names):
        yield NOTHING_HERE
        return
    untested = [name for name in found.homes if f"test_{name}" not in names]
    gone = [name for name, home in found.homes.items() if home is None]
    moved = [n for n, home in found.homes.items() if home is not None and n not in names]
    if untested:
        yield f"{_cells('test cell', untested)} missing; {_it(untested, 'was', 'were')} put back."
    if gone:
        yield f"{_cells('cell', gone, 'is', 'are')} missing."
    if moved:
        lost = "lost its name; its" if len(moved) == 1 else "lost their names; their"
        yield f"{_cells('cell', moved, 'has', 'have')} {lost} code counted."
    for name in found.homes:
        count = names.count(f"test_{name}")
        if count > 1:
            yield f"The test cell of {name} was there {count} times; it counted once."
        # The halves of a cell that was split both count, and a copy of comments alone does not.
        written = sum(found.answers[place].get(name, False) for place in _own(found, name))
        if written > 1:
            yield f"The cell of {name} was there {written} times; the last one counted."


def _own(found: Arrangement, name: str) -> list[int]:
    return [place for place, cell in enumerate(found.cells) if cell.name == name]


def _cells(what: str, names: Sequence[str], one: str = "was", more: str = "were") -> str:
    """Return "The cell of a is", "The cells of a, b are"."""
    s = "" if len(names) == 1 else "s"
    return f"The {what}{s} of {first(names, MOST_TOLD)} {_it(names, one, more, pronoun=False)}"


def _it(names: Sequence[str], one: str, more: str, *, pronoun: bool = True) -> str:
    if len(names) == 1:
        return f"it {one}" if pronoun else one
    return f"they {more}" if pronoun else more


def _cell_by_cell(found: Arrangement, submitted: Sequence[SubmittedCell]) -> Iterator[str]:
    """Yield what is told of cells that are text by their type, do not run, or cannot be read."""
    by_type = {cell.index: cell.kind for cell in submitted}
    told = []
    for cell in found.cells:
        kind = by_type[cell.index]
        if kind != "code" and cell.name not in found.tests:
            told.append(f"{label_of(cell)} is of type {kind}; it counted as the code that it is.")
        if cell in found.unread:
            told.append(_why_unread(cell))
        elif (taken := taken_by(cell.source)) and any(
            one.bound or one.imports for one in statements(taken.code)
        ):
            told.append(_why_taken(cell, taken))
    yield from told[:MOST_TOLD]
    if len(told) > MOST_TOLD:
        yield f"{len(told) - MOST_TOLD} more cells could not be read as Python or did not run."


def reasons(found: Arrangement) -> dict[str, str]:
    """Return exercise -> why what was written may not be what was observed."""
    return {**dict(_kept_from_running(found)), **_hidden(found)}


def _kept_from_running(found: Arrangement) -> Iterator[tuple[str, str]]:
    """Yield the exercises that no cell writes but one that could not run, with the reason."""
    for name, home in found.homes.items():
        if home is not None and found.answers[home].get(name):
            continue
        defines = re.compile(
            rf"^\s*(?:def|class)\s+{name}\b|^{name}\s*(?::[^=\n]*)?=", re.MULTILINE
        )
        for cell in found.cells:
            if cell.name == name or defines.search(cell.source):
                if cell in found.unread:
                    yield name, _why_unread(cell)
                elif taken := taken_by(cell.source):
                    yield name, _why_taken(cell, taken)


def _why_taken(cell: SubmittedCell, taken: Taken) -> str:
    return f"{label_of(cell)} {taken.why}. So nothing in it is defined: take that line out."


def _why_unread(cell: SubmittedCell) -> str:
    line, why = why_unreadable(cell.source)
    lines = cell.source.splitlines()
    there = 0 < line <= len(lines)
    where = f" in line {line}, `{plain_code(lines[line - 1].strip())}`" if there else ""
    return (
        f"{label_of(cell)} could not be read as Python and did not run: a syntax error{where}: "
        f"{why}."
    )


def _hidden(found: Arrangement) -> dict[str, str]:
    """Return what is told where a stub, or another answer, comes after the one that counts."""
    cells, homes, answers = found.cells, found.homes, found.answers
    told = {
        name: f"{label_of(cells[place])} defines `{name}` anew, further down. What counts is the "
        "exercise's own cell: put there what you mean to hand in."
        for name, place in defined_anew(cells, homes, answers).items()
    }
    for name, (home, stub) in hiding(homes, found.places, answers).items():
        later = label_of(cells[stub])
        told[name] = (
            f"{label_of(cells[home])} defines `{name}`, too, but {later[:1].lower()}{later[1:]}, "
            "which comes later, still holds the stub."
        )
    return told


def label_of(cell: SubmittedCell) -> str:
    """Return a cell in words: its number among all cells, its name, and its first line."""
    lines = (line.strip() for line in cell.source.splitlines())
    first = plain_code(next(filter(None, lines), ""))
    own = f"{plain_name(cell.name)}, " if cell.name else ""
    return f"Cell {cell.index + 1} ({own}`{first}`)"


def plain_name(name: str) -> str:
    """Return the start of a cell's name with nothing but what nbgrader allows in names.

    A student may write any. It stands outside of code marks, where Markdown would read a link.
    """
    return re.sub(r"[^\w-]", "?", name[:MOST_LINE], flags=re.ASCII)


def plain_code(line: str) -> str:
    """Return the start of a line of code without what Markdown or HTML could read as theirs.

    A `>` means nothing there but at the start of a line, or behind a `<`.
    """
    return re.sub(r"[^\w =()\[\]{},.:;%+*/'\"#@>-]", "?", line[:MOST_LINE])
