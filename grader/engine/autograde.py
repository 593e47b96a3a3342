"""Grade what is in submitted/ and record it, with progress."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from nbgrader.utils import parse_utc
from tqdm import tqdm

from grader.build.lesson import Lesson
from grader.engine.lock import only_grader
from grader.engine.outcome import Outcome
from grader.engine.pool import Pool
from grader.engine.record import Graded, fingerprint, in_gradebook, record, recorded, sweep
from grader.engine.submission import MOST_BYTES
from grader.engine.unit import grade_all
from grader.gradebook.course import GradingCourse
from grader.isolation import Limits
from grader.plain_file import read_plain

BATCH: Final = 20
Submission = tuple[str, str]


def autograde(
    course: GradingCourse,
    submissions: Sequence[Submission],
    *,
    n_jobs: int,
    limits: Limits | None = None,
    isolate: bool = True,
    regrade: bool = False,
) -> dict[Submission, Outcome]:
    """Grade submissions that are not graded yet, and record them in batches.

    Args:
        course: where they are.
        submissions: (student, lesson) pairs.
        n_jobs: how many are graded at once.
        limits: what each may use.
        isolate: False runs code unisolated, for one's own work only.
        regrade: grade again what is graded already.

    Returns:
        What was graded now.

    Raises:
        CourseError: another grader is at work, or grades cannot be written.
        CannotIsolate: this machine cannot isolate.
    """
    with only_grader(course.folder):
        sweep(course.folder)
        waiting = list(submissions) if regrade else _ungraded(course, submissions)
        if not waiting:
            return {}
        count, scratch = min(n_jobs, len(waiting)), course.folder / ".course"
        with Pool(count, limits or Limits(), isolate=isolate, scratch=scratch) as pool:
            for lesson in course.lessons:
                if any(name == lesson.name for _, name in waiting):
                    course.record(lesson)
            return _grade(course, waiting, pool)


def _ungraded(course: GradingCourse, submissions: Sequence[Submission]) -> list[Submission]:
    known = in_gradebook(course)
    return [
        (student, lesson)
        for student, lesson in submissions
        if (student, lesson) not in known
        or recorded(course, student, lesson) != fingerprint(read(course, student, lesson))
    ]


def _grade(
    course: GradingCourse, waiting: Sequence[Submission], pool: Pool
) -> dict[Submission, Outcome]:
    done: dict[Submission, Outcome] = {}
    progress = tqdm(_outcomes(course, waiting, pool), "grading", len(waiting), unit="submission")
    for batch in _batches(progress):
        record(course, batch)
        done |= {(graded.student, graded.lesson.name): graded.outcome for graded in batch}
    return done


def _batches(graded: Iterable[Graded]) -> Iterator[list[Graded]]:
    waiting = iter(graded)
    while batch := list(islice(waiting, BATCH)):
        yield batch


def _outcomes(course: GradingCourse, waiting: Sequence[Submission], pool: Pool) -> Iterator[Graded]:
    lessons = {lesson.name: lesson for lesson in course.lessons}
    at_work: dict[int, bytes] = {}

    def items() -> Iterator[tuple[bytes, Lesson]]:
        for key, (student, lesson) in enumerate(waiting):
            at_work[key] = read(course, student, lesson)
            yield at_work[key], lessons[lesson]

    for key, outcome in grade_all(items(), pool):
        student, lesson = waiting[key]
        when = _timestamp(course.folder / "submitted" / student / lesson)
        yield Graded(student, lessons[lesson], at_work.pop(key), outcome, when)


def read(course: GradingCourse, student: str, lesson: str) -> bytes:
    """A submitted notebook's bytes; none where it is missing, a link, or no plain file.

    Never more than is needed to see that it is too large.
    """
    path = course.folder / "submitted" / student / lesson / f"{lesson}.ipynb"
    return read_plain(path, MOST_BYTES + 1) or b""


def _timestamp(folder: Path) -> str:
    """When it was submitted; nothing where the file is missing or holds no time."""
    text = (read_plain(folder / "timestamp.txt", 64) or b"").decode(errors="replace").strip()
    try:
        return text if parse_utc(text) else ""
    except (ValueError, OverflowError):
        return ""
