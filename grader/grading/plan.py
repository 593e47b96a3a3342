"""What the isolated process must do with a submission, step by step."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Final

from grader.authoring.lesson import Lesson
from grader.grading.submission import CodeCell
from grader.static_analysis.cells import as_any_editor, as_python, is_readable
from grader.static_analysis.definitions import definitions_alone
from grader.static_analysis.memory import may_remember
from grader.workers.absent_answers import defines
from utils.checks.framework.exercise import Case, hidden_case
from utils.checks.registry import probes

MOST_TOLD: Final = 20  # cells that are named
MOST_LINE: Final = 60  # characters of a line of code in a sentence
_HIDDEN: Final[dict[tuple[str, str], tuple[Case, ...]]] = {}  # by exercise, and what is asked


@dataclass(frozen=True)
class Step:
    """Run a cell, or observe an exercise.

    Attributes:
        source: the cell's code as Python, for a step that runs one.
        exercise: what to observe, for a step that observes.
        cases: the parameters of each case (and nothing else about it).
        label: the cell in words, for a step that runs one.
        again: whether a student's test is tried in a second process, since it might remember.

    """

    source: str = ""
    exercise: str = ""
    cases: list[dict[str, Any]] = field(default_factory=list)
    label: str = ""
    again: bool = True


@dataclass(frozen=True)
class Plan:
    """Steps in order, and what was noticed about the notebook."""

    steps: list[Step]
    notes: tuple[str, ...]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the steps as plain data."""
        return [dict(vars(step)) for step in self.steps]


def cases_of(lesson: Lesson, exercise: str) -> tuple[Case, ...]:
    """Return the visible and the hidden cases of an exercise."""
    found = next(e for e in lesson.exercises if e.id == exercise)
    key = exercise, found.asked
    if key not in _HIDDEN:
        _HIDDEN[key] = tuple(map(hidden_case, found.hidden))
    return (*probes()[exercise].cases, *_HIDDEN[key])


def make_plan(lesson: Lesson, cells: Sequence[CodeCell]) -> Plan:
    """Keep the student's cells in order, and observe each exercise where its test stands.

    Test cells never run: they only say where to look. A test that is missing, or stands before its
    exercise, counts as standing right after it. No exercise is observed before those that precede
    it in the lesson: right stand-ins for them can be seen while it is. A cell that cannot be read
    does not run either: nothing in it was checked. What a student defines in a demonstration or
    beside a test is there all the same, as in the notebook.
    """
    ids = [exercise.id for exercise in lesson.exercises]
    homes = {name: _home(name, cells) for name in ids}
    places = _in_order({name: _place(name, cells, homes[name]) for name in ids}, len(cells))
    left_out = _left_out(lesson, cells)
    unread = [c for c in cells if c.index not in left_out and not is_readable(c.source)]
    no_code = {c.index for c in unread}
    sources = {c.index: as_python(c.source) for c in cells if c.index not in no_code}
    sources |= _definitions(lesson, sources, left_out)
    steps: list[Step] = []
    for position, cell in enumerate(cells):
        source = sources.get(cell.index, "")
        if source or cell.index not in left_out | no_code:
            steps.append(Step(source=source, label=label_of(cell)))
        steps += [_observation(lesson, name) for name in ids if places[name] == position]
    steps += [_observation(lesson, name) for name in ids if places[name] == len(cells)]
    steps = [_once_if_forgetful(step, steps) for step in steps]
    return Plan(steps, (*_notes(ids, cells, homes, no_code), *_unread(unread)))


def _left_out(lesson: Lesson, cells: Sequence[CodeCell]) -> set[int]:
    """Return which cells do not run: tests, and demonstrations, even if their tag is lost."""
    idle = {as_any_editor(c.source) for c in lesson.cells if "skip-grading" in c.tags}
    tests = {f"test_{exercise.id}" for exercise in lesson.exercises}
    return {
        c.index for c in cells if c.skipped or c.name in tests or as_any_editor(c.source) in idle
    }


def _definitions(lesson: Lesson, sources: Mapping[int, str], left_out: set[int]) -> dict[int, str]:
    """Return what a student defines in cells that do not run, by their places."""
    idle = {index: source for index, source in sources.items() if index in left_out}
    running = [source for index, source in sources.items() if index not in left_out]
    own = (as_any_editor(c.source) for c in lesson.cells if c.test or "skip-grading" in c.tags)
    ids = [exercise.id for exercise in lesson.exercises]
    alone = definitions_alone([*idle.values()], running, "\n".join(own), ids)
    return dict(zip(idle, alone, strict=True))


def _observation(lesson: Lesson, name: str) -> Step:
    return Step(exercise=name, cases=[dict(case.params) for case in cases_of(lesson, name)])


def _once_if_forgetful(step: Step, steps: Sequence[Step]) -> Step:
    if not step.exercise or not probes()[step.exercise].served:
        return step
    return replace(step, again=may_remember([s.source for s in steps], step.exercise))


def _home(name: str, cells: Sequence[CodeCell]) -> int | None:
    """Return where an exercise is written: the last cell of its name, else the last defining it."""
    named = [i for i, cell in enumerate(cells) if cell.name == name]
    if named:
        return named[-1]
    return max((i for i, cell in enumerate(cells) if defines(cell.source, name)), default=None)


def _place(name: str, cells: Sequence[CodeCell], home: int | None) -> int | None:
    tests = [i for i, cell in enumerate(cells) if cell.name == f"test_{name}"]
    if tests and (home is None or tests[-1] > home):
        return tests[-1]
    return home


def _in_order(places: Mapping[str, int | None], end: int) -> dict[str, int]:
    """Return each place, or that of an earlier exercise if later; the end if there is none."""
    found = (end if place is None else place for place in places.values())
    return dict(zip(places, accumulate(found, max), strict=True))


def _notes(
    ids: Sequence[str],
    cells: Sequence[CodeCell],
    homes: dict[str, int | None],
    no_code: Collection[int],
) -> Iterator[str]:
    names = [cell.name for cell in cells]
    for name in ids:
        count = names.count(f"test_{name}")
        if count == 0:
            yield f"The test cell of {name} was missing; it was put back."
        if count > 1:
            yield f"The test cell of {name} was there {count} times; it counted once."
        # The halves of a cell that was split both count, and a copy of comments alone does not.
        own = [cell for cell in cells if cell.name == name and cell.index not in no_code]
        answers = sum(defines(cell.source, name) for cell in own)
        if answers > 1:
            yield f"The cell of {name} was there {answers} times; the last one counted."
        if name not in names:
            where = "is missing" if homes[name] is None else "has lost its name; its code counted"
            yield f"The cell of {name} {where}."


def _unread(cells: Sequence[CodeCell]) -> Iterator[str]:
    for cell in cells[:MOST_TOLD]:
        yield f"{label_of(cell)} could not be read as Python and did not run: a syntax error."
    if len(cells) > MOST_TOLD:
        yield f"{len(cells) - MOST_TOLD} more cells could not be read as Python and did not run."


def label_of(cell: CodeCell) -> str:
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
