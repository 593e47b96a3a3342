"""Workers against the one-machine engine, what the client costs, and whether its memory stays flat.

Each pair is measured in turns on one machine, so that its other work falls on both. What the client
costs is measured with workers that answer at once, as processor time of the client's own process.
"""

import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil

from bench.at_once import at_once
from bench.grading import LESSON, ROOT, a_class
from grader.authoring.lesson import Lesson, lessons
from grader.authoring.notebook import source_notebook
from grader.cluster.address import Local
from grader.cluster.engine import Cluster
from grader.cluster.outcome_data import write_outcome
from grader.course.course import GradingCourse
from grader.grading.batch import autograde
from grader.grading.engine import Engine, Grade, ThisMachine
from grader.grading.outcome import Status
from grader.grading.pipeline import grade_submission
from grader.grading.reading import Item

ROUNDS: Final = 3
N_WARM, N_TIMED = 4, 24
N_RECORDED: Final = 150
N_FEW, N_MANY = 1_000, 10_000
WORKERS: Final = tuple(range(1, min(2, os.cpu_count() or 1) + 1))


def measure() -> dict[str, Any]:
    """Return rates with workers and without, the client's cost, and its memory."""
    lesson = next(x for x in lessons(ROOT) if x.name == LESSON)
    rates = {count: side_by_side(lesson, count) for count in WORKERS}
    alone = rates[1]["workers"]["submissions per second"]
    return {
        "lesson": LESSON,
        "by workers (and watchers of the one-machine engine)": rates,
        **client_cost(lesson, alone),
        **memory(lesson),
    }


def items(lesson: Lesson, count: int) -> Iterator[Item]:
    """Yield the solved lesson so many times."""
    data = json.dumps(source_notebook(lesson)).encode()
    for number in range(count):
        yield Item(data, lesson, number.to_bytes(16))


def side_by_side(lesson: Lesson, count: int) -> dict[str, Any]:
    """Return submissions per second of both engines, warm, measured in turns."""
    here, there = ThisMachine(count), Cluster(Local(count))
    with (
        tempfile.TemporaryDirectory() as folder,
        here.opened(N_TIMED, Path(folder)) as on_one,
        there.opened(N_TIMED, Path(folder)) as on_workers,
    ):
        for grade in (on_one, on_workers):
            run(grade, lesson, N_WARM)
        rounds = [(cost(on_one, lesson), cost(on_workers, lesson)) for _ in range(ROUNDS)]
    return {
        "one machine": medians([one for one, _ in rounds]),
        "workers": medians([workers for _, workers in rounds]),
        "seconds, workers over one machine": ratios(rounds, 0),
        "processor seconds, workers over one machine": ratios(rounds, 1),
    }


Cost = tuple[float, float]  # of a submission: seconds by the clock, and of all processes


def cost(grade: Grade, lesson: Lesson) -> Cost:
    """Return what a submission costs."""
    start, spent = time.perf_counter(), processor_seconds()
    run(grade, lesson, N_TIMED)
    return (
        (time.perf_counter() - start) / N_TIMED,
        (processor_seconds() - spent) / N_TIMED,
    )


def processor_seconds() -> float:
    """Return what this process and all below it have used, those that are over included."""
    own = psutil.Process()
    return sum(sum(p.cpu_times()[:4]) for p in [own, *own.children(recursive=True)])


def medians(costs: Sequence[Cost]) -> dict[str, float]:
    """Return the median rate and the median processor time."""
    seconds, spent = map(statistics.median, zip(*costs, strict=True))
    return {
        "submissions per second": round(1 / seconds, 2),
        "processor seconds for a submission": round(spent, 3),
    }


def ratios(rounds: Sequence[tuple[Cost, Cost]], part: int) -> dict[str, Any]:
    """Return how much more workers cost: the median, and each round."""
    found = [workers[part] / one[part] for one, workers in rounds]
    return {"median": round(statistics.median(found), 3), "rounds": [round(x, 3) for x in found]}


def run(grade: Grade, lesson: Lesson, count: int) -> None:
    """Grade the solved lesson so many times; a figure of what was not graded means nothing."""
    found = [outcome.status for _, outcome in grade(items(lesson, count))]
    if found != [Status.GRADED] * count:
        raise RuntimeError(f"of {count} submissions came back: {found}")


def instant(lesson: Lesson) -> Engine:
    """Return workers that grade nothing; their answers are as large as true ones."""
    graded = grade_submission(next(items(lesson, 1)).data, lesson)
    outcome = json.dumps(write_outcome(graded)).encode()
    return Cluster(Local(len(WORKERS)), task=partial(at_once, outcome))


def client_cost(lesson: Lesson, alone: float) -> dict[str, Any]:
    """Return the client's processor time for a submission: sent and taken, then recorded too."""
    with tempfile.TemporaryDirectory() as folder:
        with instant(lesson).opened(N_FEW, Path(folder)) as grade:
            run(grade, lesson, N_WARM)
            sent = timed(lambda: run(grade, lesson, N_FEW)) / N_FEW
        whole = cost_of_all(a_class(Path(folder) / "class", N_RECORDED), instant(lesson))
    return {
        "client's milliseconds for a submission, sent and taken": round(1000 * sent, 2),
        "and read, recorded and copied too": round(1000 * whole, 1),
        "submissions per second that one client can feed": round(1 / whole, 1),
        "workers of one core that one client can feed": round(1 / whole / alone, 1),
    }


def cost_of_all(course: GradingCourse, engine: Engine) -> float:
    """Return the client's processor seconds for a submission, less what each run costs once."""
    everything = course.submitted()
    autograde(course, everything, engine=engine)
    grade_again = partial(autograde, course, engine=engine, regrade=True)
    once = timed(lambda: grade_again(everything[:N_WARM]))
    whole = timed(lambda: grade_again(everything))
    return (whole - once) / (len(everything) - N_WARM)


def timed(work: Callable[[], object]) -> float:
    """Return the processor seconds of this process, all its threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def memory(lesson: Lesson) -> dict[str, Any]:
    """Return the client's memory while many submissions pass through."""
    held: dict[int, int] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        instant(lesson).opened(N_MANY, Path(folder)) as grade,
    ):
        for number, _ in enumerate(grade(items(lesson, N_MANY)), 1):
            if number in (N_FEW, N_MANY):
                held[number] = resident()
    return {
        f"client's memory after {N_FEW} and after {N_MANY} submissions (MiB)": list(held.values())
    }


def resident() -> int:
    """Return this process's memory now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() >> 20
