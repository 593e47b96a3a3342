"""Read submissions: what is to be run, and what can be said without running it."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from grader.authoring.lesson import Lesson
from grader.notebook_file import Malformed
from grader.reading.known_cells import code_cells, known
from grader.reading.other_lessons import exercises_in
from grader.reading.own_process import OwnProcess, TooCostly, in_own_process
from grader.reading.plan import Plan, Step, make_plan
from grader.reading.submission import SubmittedCell, read_submission
from grader.static_analysis.cells import as_any_editor, is_readable, statements
from grader.static_analysis.shortcuts import shortcuts_in
from grader.static_analysis.unusual import unusual
from grader.workers.notebook.cell_code import compiled_ahead
from utils.checks.registry import probes
from utils.reference import BLOCKS

TOO_COSTLY: Final = (
    "Reading the notebook's code takes more time or memory than grading has for it. Take out what "
    "the lesson does not need (long generated code, very long lines) and submit it again."
)


FIRST: Final = 2  # submissions that are read in one process, at first
TOGETHER: Final = 16  # and at most


@dataclass(frozen=True)
class Item:
    """A submission on its way to be graded.

    Attributes:
        data: the notebook as submitted.
        lesson: the trusted lesson.
        seed: what hidden orders are drawn from (see `workers.pool.Job`).

    """

    data: bytes
    lesson: Lesson
    seed: bytes = field(default_factory=lambda: os.urandom(16), repr=False)


@dataclass(frozen=True)
class Prepared:
    """A submission after reading: what to run, and what is known without running it.

    Attributes:
        named: exercise -> what its student reads if it is not right: the shortcut that it plainly
            uses, or the stub that stands behind it.

    """

    lesson: Lesson
    steps: bytes
    named: Mapping[str, str]
    unusual: tuple[str, ...]
    notes: tuple[str, ...]
    plan: Plan


def read_ahead(items: Iterable[Item]) -> Iterator[tuple[Item, Prepared | Exception]]:
    """Read submissions in their order; yield what each is, or why it cannot be graded.

    Several are read in one process, a fork of which costs more than the reading, and the next ones
    while these are graded. They are few at first: nobody is graded before those are read. If it
    takes too much for them, each is read in a process of its own.
    """
    with ExitStack() as ends:
        waiting, count = iter(items), FIRST
        ahead = _begin(waiting, count, ends)
        while ahead is not None:
            count = min(2 * count, TOGETHER)
            (batch, at_work), ahead = ahead, _begin(waiting, count, ends)
            yield from _results(batch, at_work)


def _begin(
    waiting: Iterator[Item], count: int, ends: ExitStack
) -> tuple[list[Item], OwnProcess] | None:
    """Begin to read the next submissions, so many at most; None if there are no more."""
    batch = list(islice(waiting, count))
    if not batch:
        return None
    for lesson in {id(item.lesson): item.lesson for item in batch}.values():
        for cell in lesson.cells:
            is_readable(cell.source)  # read here once, so that no process of its own does it again
        known(lesson)
        exercises_in(lesson.text_path.parent)
    at_work = OwnProcess(
        lambda: json.dumps([_read(item.data, item.lesson) for item in batch]).encode()
    )
    ends.callback(at_work.close)
    return batch, at_work


def _results(
    batch: Sequence[Item], at_work: OwnProcess
) -> Iterator[tuple[Item, Prepared | Exception]]:
    try:
        answers = json.loads(at_work.result())
    except (TooCostly, RuntimeError):
        yield from ((item, _alone(item)) for item in batch)
    else:
        for item, answer in zip(batch, answers, strict=True):
            yield item, _understood(item.lesson, answer)


def _alone(item: Item) -> Prepared | Exception:
    try:
        return prepare(item.data, item.lesson)
    except Exception as error:  # told about this one; it must not stop the others
        return error


def prepare(data: bytes, lesson: Lesson) -> Prepared:
    """Read a submission and plan its grading.

    Raises:
        Malformed: it cannot be graded; the message is for the student.

    """
    try:
        answer = json.loads(in_own_process(lambda: json.dumps(_read(data, lesson)).encode()))
    except TooCostly:
        raise Malformed(TOO_COSTLY) from None
    read = _understood(lesson, answer)
    if isinstance(read, Malformed):
        raise read
    return read


def _understood(lesson: Lesson, answer: Mapping[str, Any]) -> Prepared | Malformed:
    """Return what a process of its own found."""
    if "malformed" in answer:
        return Malformed(answer["malformed"])
    plan = Plan([Step(**step) for step in answer["steps"]], tuple(answer["notes"]))
    pairs = zip(answer["steps"], answer["code"], strict=True)
    steps = json.dumps([step | {"code": code} if code else step for step, code in pairs]).encode()
    return Prepared(lesson, steps, answer["named"], tuple(answer["unusual"]), plan.notes, plan)


def _read(data: bytes, lesson: Lesson) -> dict[str, Any]:
    """Read and plan, in a process of its own; return that as plain data, or why it is malformed."""
    try:
        _, submitted = read_submission(data)
        plan = make_plan(lesson, submitted)
    except Malformed as error:
        return {"malformed": str(error)}
    cells = code_cells(lesson, submitted)
    read = {"named": {**plan.hidden, **_named(lesson, cells)}, "unusual": _unusual(lesson, cells)}
    trees = ([one.code for one in statements(step.source)] for step in plan.steps)
    code = list(compiled_ahead(trees))
    return {"steps": plan.as_json(), "code": code, "notes": plan.notes, **read}


def _named(lesson: Lesson, cells: Sequence[SubmittedCell]) -> dict[str, str]:
    """Return the shortcuts that answers plainly use; it decides nothing."""
    tests = {f"test_{exercise.id}" for exercise in lesson.exercises}
    sources = [cell.source for cell in cells if cell.name not in tests]
    return shortcuts_in(sources, {e.id: ruled_out(e.id) for e in lesson.exercises})


def _unusual(lesson: Lesson, cells: Sequence[SubmittedCell]) -> tuple[str, ...]:
    """Return what somebody should look at, in cells that are not the lesson's own."""
    released = {as_any_editor(cell.source) for cell in lesson.cells}
    return unusual([c.source for c in cells if as_any_editor(c.source) not in released])


def ruled_out(exercise: str) -> tuple[str, ...]:
    """Return what an exercise forbids, with the course's own stand-in for it if there is one."""
    stand_in = (f"utils.reference.modules.{exercise}",) if exercise in BLOCKS else ()
    return (*probes()[exercise].forbidden, *stand_in)
