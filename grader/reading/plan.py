"""What the isolated process must do with a submission, step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from grader.authoring.lesson import Lesson
from grader.notebook_file import Malformed
from grader.reading.arrangement import arranged
from grader.reading.cell_notes import label_of, notes_on, reasons
from grader.reading.homes import Places, in_order
from grader.reading.other_lessons import another_lesson
from grader.reading.submission import SubmittedCell
from grader.static_analysis.memory import may_remember
from utils.checks.exercise import Case, hidden_case
from utils.checks.registry import probes

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
        hidden: exercise -> why what a student wrote may not be what was observed, told if that was
            not right.

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


def make_plan(lesson: Lesson, submitted: Sequence[SubmittedCell]) -> Plan:
    """Return what is done with a submission: its cells and observations, as they are arranged.

    No exercise is observed before those that precede it in the lesson: right stand-ins for them can
    be seen while it is.

    Raises:
        Malformed: it is another lesson's, or has more code than grading reads.

    """
    found = arranged(lesson, submitted)
    if whose := another_lesson(lesson, found, submitted):
        raise Malformed(whose)
    run = [
        [] if source is None else [Step(source=source, label=label_of(cell))]
        for cell, source in zip(found.cells, found.runs, strict=True)
    ]
    notes = notes_on(lesson, found, submitted)
    return Plan(_steps(lesson, run, found.places), notes, reasons(found))


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


def _observation(lesson: Lesson, name: str) -> Step:
    return Step(exercise=name, cases=[dict(case.params) for case in cases_of(lesson, name)])


def _once_if_forgetful(step: Step, steps: Sequence[Step]) -> Step:
    if not step.exercise or not probes()[step.exercise].served:
        return step
    return replace(step, again=may_remember([s.source for s in steps], step.exercise))
