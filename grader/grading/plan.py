"""What the isolated process must do with a submission, step by step."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from grader.authoring.lesson import Lesson
from grader.grading.homes import (
    Answers,
    Places,
    answers_of,
    defined_anew,
    hiding,
    home_of,
    in_order,
    places_of,
)
from grader.grading.submission import CodeCell
from grader.static_analysis.cells import as_any_editor, as_python, is_readable
from grader.static_analysis.definitions import definitions_alone
from grader.static_analysis.memory import may_remember
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
        behind: the step whose place is the exercise's own, for one that waits for an earlier one
            (-1 before all steps): it is observed with the values that names had there.

    """

    source: str = ""
    exercise: str = ""
    cases: list[dict[str, Any]] = field(default_factory=list)
    label: str = ""
    again: bool = True
    behind: int | None = None


@dataclass(frozen=True)
class Plan:
    """Steps in order, and what was noticed about the notebook.

    Attributes:
        steps: what is done.
        notes: sentences for the student.
        hidden: exercise -> the sentence for who wrote its answer before its stub, or once more
            below its cell, if that was not right.

    """

    steps: list[Step]
    notes: tuple[str, ...]
    hidden: Mapping[str, str] = field(default_factory=dict)

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
    exercise, counts as standing right after it (see `homes` for where that is). No exercise is
    observed before those that precede it in the lesson: right stand-ins for them can be seen while
    it is. A cell that cannot be read does not run either: nothing in it was checked. What a student
    defines in a demonstration or beside a test is there all the same, as in the notebook.
    """
    left_out = _left_out(lesson, cells)
    unread = [c for c in cells if c.index not in left_out and not is_readable(c.source)]
    no_code = {c.index for c in unread}
    sources = {c.index: as_python(c.source) for c in cells if c.index not in no_code}
    sources |= _definitions(lesson, sources, left_out)
    answers = answers_of(lesson, cells, sources)
    homes = {e.id: home_of(e.id, cells, answers) for e in lesson.exercises}
    places = places_of(cells, homes)
    run = [
        [Step(source=sources.get(c.index, ""), label=label_of(c))]
        if sources.get(c.index) or c.index not in left_out | no_code
        else []
        for c in cells
    ]
    notes = (*_notes(cells, homes, answers), *_unread(unread))
    return Plan(_steps(lesson, run, places), notes, _hidden(cells, homes, places, answers))


def _steps(lesson: Lesson, run: Sequence[Sequence[Step]], places: Places) -> list[Step]:
    """Return the steps of all cells, with each exercise observed behind the cell of its place.

    Args:
        lesson: the trusted lesson.
        run: the step of each cell; none if nothing of it runs.
        places: where each exercise's own place is.

    """
    steps: list[Step] = []
    stood: list[int] = []  # the last step at each cell's place, exercises apart
    ordered = in_order(places, len(run))
    for position, cell in enumerate((*run, ())):
        steps += cell
        stood.append(len(steps) - 1)
        for name in (name for name, place in ordered.items() if place == position):
            own = places[name]
            behind = None if own is None or own == position else stood[own]
            steps.append(replace(_observation(lesson, name), behind=behind))
    return [_once_if_forgetful(step, steps) for step in steps]


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


def _notes(cells: Sequence[CodeCell], homes: Places, answers: Answers) -> Iterator[str]:
    names = [cell.name for cell in cells]
    for name, home in homes.items():
        count = names.count(f"test_{name}")
        if count == 0:
            yield f"The test cell of {name} was missing; it was put back."
        if count > 1:
            yield f"The test cell of {name} was there {count} times; it counted once."
        # The halves of a cell that was split both count, and a copy of comments alone does not.
        own = [found for cell, found in zip(cells, answers, strict=True) if cell.name == name]
        written = sum(found.get(name, False) for found in own)
        if written > 1:
            yield f"The cell of {name} was there {written} times; the last one counted."
        if name not in names:
            where = "is missing" if home is None else "has lost its name; its code counted"
            yield f"The cell of {name} {where}."


def _hidden(
    cells: Sequence[CodeCell], homes: Places, places: Places, answers: Answers
) -> dict[str, str]:
    """Return what is told where a stub, or another answer, comes after the one that counts."""
    told = {
        name: f"{label_of(cells[place])} defines `{name}` anew, further down. What counts is the "
        "exercise's own cell: put there what you mean to hand in."
        for name, place in defined_anew(cells, homes, answers).items()
    }
    for name, (home, stub) in hiding(homes, places, answers).items():
        later = label_of(cells[stub])
        told[name] = (
            f"{label_of(cells[home])} defines `{name}`, too, but {later[:1].lower()}{later[1:]}, "
            "which comes later, still holds the stub."
        )
    return told


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
