"""The unit of work: one submission's bytes in, one outcome out."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from grader.authoring.lesson import Lesson
from grader.grading.ended_early import ended_early
from grader.grading.outcome import (
    ENDED_ITS_WORKERS,
    GRADER_FAILED,
    ExerciseResult,
    Outcome,
    Status,
)
from grader.grading.own_process import TooCostly, in_own_process
from grader.grading.plan import Plan, Step, make_plan
from grader.grading.scoring import judge_submission
from grader.grading.submission import CodeCell, Malformed, read_submission
from grader.sandbox import Ended, Limits
from grader.static_analysis.cells import is_readable
from grader.static_analysis.shortcuts import shortcuts_in
from grader.static_analysis.unusual import unusual
from grader.workers.pool import Job, Pool
from grader.workers.progress import events
from utils.checks.registry import probes
from utils.reference import BLOCKS

TOO_COSTLY: Final = (
    "Reading the notebook's code takes more time or memory than grading has for it. Take out what "
    "the lesson does not need (long generated code, very long lines) and submit it again."
)


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
    """A submission after reading: what to run, and what is known without running it."""

    lesson: Lesson
    steps: bytes
    named: Mapping[str, str]
    unusual: tuple[str, ...]
    notes: tuple[str, ...]
    plan: Plan


def prepare(data: bytes, lesson: Lesson) -> Prepared:
    """Read a submission and plan its grading.

    Raises:
        Malformed: it cannot be graded; the message is for the student.

    """
    for cell in lesson.cells:
        is_readable(cell.source)  # read here once, so that no process of its own reads it again
    try:
        answer = json.loads(in_own_process(lambda: _read(data, lesson)))
    except TooCostly:
        raise Malformed(TOO_COSTLY) from None
    if "malformed" in answer:
        raise Malformed(answer["malformed"])
    plan = Plan([Step(**step) for step in answer["steps"]], tuple(answer["notes"]))
    steps = json.dumps(plan.as_json()).encode()
    return Prepared(lesson, steps, answer["named"], tuple(answer["unusual"]), plan.notes, plan)


def _read(data: bytes, lesson: Lesson) -> bytes:
    """Read and plan, in a process of its own; return that as JSON, or why it is malformed."""
    try:
        _, cells = read_submission(data)
    except Malformed as error:
        return json.dumps({"malformed": str(error)}).encode()
    plan = make_plan(lesson, cells)
    read = {"named": _named(lesson, cells), "unusual": _unusual(lesson, cells)}
    return json.dumps({"steps": plan.as_json(), "notes": plan.notes, **read}).encode()


def _named(lesson: Lesson, cells: Sequence[CodeCell]) -> dict[str, str]:
    """Return the shortcuts that answers plainly use; it decides nothing."""
    tests = {f"test_{exercise.id}" for exercise in lesson.exercises}
    sources = [cell.source for cell in cells if cell.name not in tests]
    return shortcuts_in(sources, {e.id: ruled_out(e.id) for e in lesson.exercises})


def _unusual(lesson: Lesson, cells: Sequence[CodeCell]) -> tuple[str, ...]:
    """Return what somebody should look at, in cells that are not the lesson's own."""
    released = {cell.source for cell in lesson.cells}
    return unusual([cell.source for cell in cells if cell.source not in released])


def ruled_out(exercise: str) -> tuple[str, ...]:
    """Return what an exercise forbids, with the course's own stand-in for it if there is one."""
    stand_in = (f"utils.reference.modules.{exercise}",) if exercise in BLOCKS else ()
    return (*probes()[exercise].forbidden, *stand_in)


def conclude(prepared: Prepared, ended: Ended | None) -> Outcome:
    """Judge how a prepared submission ended; None stands for one whose workers died twice."""
    if ended is None:
        return without_run(prepared.lesson, Status.CRASHED, ENDED_ITS_WORKERS)
    notes = (*prepared.notes, *ended_early(prepared.plan, events(ended.messages)))
    lines = {line.strip() for step in prepared.plan.steps for line in step.source.splitlines()}
    outcome = judge_submission(prepared.lesson, ended, prepared.named, notes, lines)
    return replace(outcome, unusual=prepared.unusual)


def _concluded(prepared: Prepared, ended: Ended | None) -> Outcome:
    try:
        return conclude(prepared, ended)
    except Exception as error:  # whatever it is, it must not stop the others
        return _failed(prepared.lesson, error)


def _failed(lesson: Lesson, error: Exception) -> Outcome:
    """Report our own failure on one submission: loud, without a score, harmless to the others."""
    what = f"{type(error).__name__}: {error}"[:400]
    return without_run(lesson, Status.GRADER_ERROR, GRADER_FAILED.format(error=what))


def without_run(lesson: Lesson, status: Status, sentence: str) -> Outcome:
    """Return the outcome of a submission that could not be run at all."""
    empty = tuple(ExerciseResult(e.id, e.points, None, sentence) for e in lesson.exercises)
    return Outcome(lesson.name, status, empty, (sentence,))


def grade_all(items: Iterable[Item], pool: Pool) -> Iterator[tuple[int, Outcome]]:
    """Grade submissions on a pool; yield (position among the items, outcome) as they finish."""
    prepared: dict[int, Prepared] = {}
    not_run: list[tuple[int, Outcome]] = []

    def jobs() -> Iterator[Job]:
        for key, item in enumerate(items):
            try:
                prepared[key] = prepare(item.data, item.lesson)
            except Malformed as error:
                not_run.append((key, without_run(item.lesson, Status.MALFORMED, str(error))))
            except Exception as error:  # whatever it is, it must not stop the others
                not_run.append((key, _failed(item.lesson, error)))
            else:
                yield Job(key, prepared[key].steps, item.seed)

    for key, ended in pool.run(jobs()):
        yield key, _concluded(prepared.pop(key), ended)
        while not_run:
            yield not_run.pop()
    yield from not_run


def grade_submission(
    data: bytes, lesson: Lesson, limits: Limits | None = None, *, isolate: bool = True
) -> Outcome:
    """Grade one submission.

    Args:
        data: the notebook as submitted.
        lesson: the trusted lesson.
        limits: what the isolated process may use.
        isolate: False runs the code unisolated, for your own work only.

    Raises:
        CannotIsolate: this machine cannot isolate; the message says what is missing.

    """
    with Pool(1, limits or Limits(), isolate=isolate) as pool:
        return next(grade_all([Item(data, lesson)], pool))[1]
