"""The fast engine against stock nbgrader and against bare calls, on the same submissions.

One run on one machine, in which the same made-up class is repeated under other names.
"""

import contextlib
import io
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from grader.authoring.lesson import Lesson, lessons
from grader.authoring.notebook import source_notebook
from grader.authoring.sample_class import make_class
from grader.commands.arguments import usual_jobs
from grader.course import nbgrader_autograde
from grader.course.course import GradingCourse
from grader.grading.batch import autograde
from grader.judging.outcome import Outcome, Status
from grader.judging.pipeline import grade_all
from grader.reading.known_cells import code_cells
from grader.reading.plan import cases_of
from grader.reading.prepared import Item
from grader.reading.submission import read_submission
from grader.sandbox import Limits
from grader.workers.pool import Pool
from utils.checks.observe.observe import observe_all, one_thread
from utils.checks.registry import probes

ROOT = Path(__file__).resolve().parents[1]
LESSON = "02_attention"
ROUNDS, N_STOCK, N_FAST, N_SHORT, N_LONG, TURNS = 3, 6, 200, 50, 1000, 25


def measure() -> dict[str, Any]:
    """Return submissions per second, ratios, spread and memory."""
    lesson = next(x for x in lessons(ROOT) if x.name == LESSON)
    with tempfile.TemporaryDirectory() as folder:
        rounds = [side_by_side(Path(folder) / str(number)) for number in range(ROUNDS)]
        slow, fast = map(statistics.median, zip(*rounds, strict=True))
        return {
            "lesson": LESSON,
            "stock nbgrader, submissions per second": round(slow, 3),
            "fast engine, submissions per second (start-up and records included)": round(fast, 2),
            "ratio": round(fast / slow, 1),
            "ratio in each round": [round(fast / slow, 1) for slow, fast in rounds],
            **in_isolation(lesson),
            **over_all_lessons(),
        }


def side_by_side(folder: Path) -> tuple[float, float]:
    """Return submissions per second of stock nbgrader and of the fast engine, in this order."""
    few, many = (a_class(folder / n, count) for n, count in (("few", N_STOCK), ("fast", N_FAST)))
    slow = rate(N_STOCK, lambda: nbgrader_autograde.autograde(few, few.submitted()))
    fast = rate(N_FAST, lambda: autograde(many, many.submitted(), n_jobs=usual_jobs()))
    assert scores(few) == {k: v for k, v in scores(many).items() if k in scores(few)}
    return slow, fast


def a_class(folder: Path, count: int) -> GradingCourse:
    """Make a course folder with `count` submissions of the lesson, right and wrong ones mixed."""
    course = GradingCourse(ROOT, folder)
    make_class(course.folder, course.lessons)
    kinds = [p.read_bytes() for p in sorted((folder / "submitted").glob(f"*/{LESSON}/*.ipynb"))]
    for path in sorted((folder / "submitted").glob("*")):
        path.rename(folder / f"made-{path.name}")
    for number in range(count):
        path = folder / "submitted" / f"s{number:03d}" / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(kinds[number % len(kinds)])
    course.record(next(x for x in course.lessons if x.name == LESSON))
    return course


def rate(count: int, work: Any) -> float:
    """Return the number done per second."""
    start = time.perf_counter()
    work()
    return count / (time.perf_counter() - start)


def scores(course: GradingCourse) -> dict[str, float]:
    """Return each student's points."""
    lesson = next(x for x in course.lessons if x.name == LESSON)
    return {row.student: row.total for row in course.book().of(lesson.name)}


def in_isolation(lesson: Lesson) -> dict[str, Any]:
    """Measure a warm pool on right submissions: rate, seconds each, peak memory at 50 and more."""
    with Pool(usual_jobs(), Limits()) as pool:
        seconds_of(graded(lesson, 4, pool))
        start = time.perf_counter()
        seconds = sorted(seconds_of(graded(lesson, N_SHORT, pool)))
        warm = N_SHORT / (time.perf_counter() - start)
        memory = [peak()]
        start = time.perf_counter()
        seconds_of(graded(lesson, N_LONG, pool))
        long = N_LONG / (time.perf_counter() - start)
        memory.append(peak())
    return {
        f"warm, submissions per second on {N_SHORT}": round(warm, 2),
        f"warm, submissions per second on {N_LONG}": round(long, 2),
        "seconds in isolation, median": round(statistics.median(seconds), 3),
        "seconds in isolation, 99th percentile": round(seconds[int(0.99 * N_SHORT)], 3),
        f"judge's peak memory after {N_SHORT} and after all (MiB)": memory,
    }


def graded(lesson: Lesson, count: int, pool: Pool) -> Iterator[Outcome]:
    """Grade the solved lesson `count` times; a figure of what was not graded would mean nothing."""
    data = json.dumps(source_notebook(lesson)).encode()
    for _, outcome in grade_all([Item(data, lesson)] * count, pool):
        if outcome.status is not Status.GRADED:
            raise RuntimeError(f"{lesson.name} was not graded: {outcome.notes}")
        yield outcome


def seconds_of(outcomes: Iterable[Outcome]) -> list[float]:
    """Return what each took in isolation."""
    return [outcome.seconds for outcome in outcomes]


def over_all_lessons() -> dict[str, Any]:
    """Measure right submissions of every lesson, one at a time: in isolation, and as bare calls."""
    with Pool(1, Limits()) as pool:
        rounds = {lesson.name: by_turns(lesson, pool) for lesson in lessons(ROOT)}
    table = {
        name: tuple(map(statistics.median, zip(*of, strict=True))) for name, of in rounds.items()
    }
    ratios = {name: statistics.median(i / b for i, b in of) for name, of in rounds.items()}
    isolated, bare = map(sum, zip(*table.values(), strict=True))
    return {
        "every lesson, seconds in isolation and bare": {
            name: [round(seconds, 3) for seconds in pair] for name, pair in table.items()
        },
        f"isolated over bare, lesson by lesson (medians of {TURNS} turns)": {
            name: round(ratio, 2) for name, ratio in ratios.items()
        },
        "isolated over bare, all lessons together": round(isolated / bare, 2),
    }


def by_turns(lesson: Lesson, pool: Pool) -> list[tuple[float, float]]:
    """Return seconds in isolation and bare, measured by turns: the machine's speed changes."""
    calls = bare_calls(lesson)
    seconds_of(graded(lesson, 3, pool))
    calls()
    return [(seconds_of(graded(lesson, 1, pool))[0], calls()) for _ in range(TURNS)]


def bare_calls(lesson: Lesson) -> Callable[[], float]:
    """Return what runs the cells and observes all cases here, no more, and returns its seconds."""
    tests = {f"test_{exercise.id}" for exercise in lesson.exercises}
    data = json.dumps(source_notebook(lesson)).encode()
    submitted = code_cells(lesson, read_submission(data)[1])
    cells = [cell for cell in submitted if not cell.skipped and cell.name not in tests]

    def seconds() -> float:
        with one_thread(), contextlib.redirect_stdout(io.StringIO()):
            start = time.perf_counter()
            namespace: dict[str, Any] = {}
            for cell in cells:
                exec(cell.source, namespace)
            for exercise in lesson.exercises:
                cases = cases_of(lesson, exercise.id)
                observe_all(probes()[exercise.id], cases, namespace[exercise.id], quiet=True)
            return time.perf_counter() - start

    return seconds


def peak() -> int:
    """Return this process's peak memory so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
