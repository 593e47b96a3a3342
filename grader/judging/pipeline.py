"""The unit of work: one submission's bytes in, one outcome out."""

import contextlib
import gc
from collections.abc import Iterable, Iterator
from dataclasses import replace

from grader.authoring.lesson import Lesson
from grader.judging.ended_early import ended_early
from grader.judging.outcome import (
    KILLED,
    LOST,
    Outcome,
    Status,
    grader_failed,
    without_run,
)
from grader.judging.scoring import expect, judge_submission
from grader.notebook_file import Malformed
from grader.reading.prepared import Item, Prepared, read_ahead
from grader.sandbox import Ended, Limits
from grader.workers.pool import Job, Pool
from grader.workers.progress import events, is_killed


def conclude(prepared: Prepared, ended: Ended | None) -> Outcome:
    """Judge how a prepared submission ended.

    None stands for one whose workers died each time. No student's code runs in them, so that is no
    crash of the notebook's, and no zero; nor is it where all its processes were killed.
    """
    if ended is None or is_killed(ended):
        why = LOST if ended is None else KILLED
        return without_run(prepared.lesson, Status.GRADER_ERROR, why)
    notes = (*prepared.notes, *ended_early(prepared.plan, events(ended.messages)))
    cells = [step.source for step in prepared.plan.steps]
    outcome = judge_submission(prepared.lesson, ended, prepared.named, notes, cells)
    return replace(outcome, unusual=prepared.unusual)


def _concluded(prepared: Prepared, ended: Ended | None) -> Outcome:
    try:
        return conclude(prepared, ended)
    except Exception as error:  # whatever it is, it must not stop the others
        return grader_failed(prepared.lesson, error)


def grade_all(items: Iterable[Item], pool: Pool) -> Iterator[tuple[int, Outcome]]:
    """Grade submissions on a pool; yield (position among the items, outcome) as they finish."""
    prepared: dict[int, Prepared] = {}
    not_run: list[tuple[int, Outcome]] = []
    expected: set[str] = set()

    def jobs() -> Iterator[Job]:
        for key, (item, read) in enumerate(read_ahead(items)):
            if isinstance(read, Malformed):
                not_run.append((key, without_run(item.lesson, Status.MALFORMED, str(read))))
            elif isinstance(read, Exception):  # whatever it is, it must not stop the others
                not_run.append((key, grader_failed(item.lesson, read)))
            else:
                prepared[key] = read
                yield Job(key, read.steps, item.seed)
                if item.lesson.name not in expected:  # the fork server may still be warming up
                    expected.add(item.lesson.name)
                    with contextlib.suppress(Exception):  # judging meets it, and tells it
                        expect(item.lesson)

    gc.freeze()  # a collection that looks through all that is loaded takes as long as a submission
    try:
        for key, ended in pool.run(jobs()):
            yield key, _concluded(prepared.pop(key), ended)
            while not_run:
                yield not_run.pop()
        yield from not_run
    finally:
        gc.unfreeze()


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
