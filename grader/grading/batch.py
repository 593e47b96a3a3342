"""Grade what is in submitted/ and record it, with progress."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Final

from tqdm import tqdm

from grader.authoring.lesson import Lesson
from grader.calendar.penalties import settle
from grader.course.course import GradingCourse
from grader.course.graded_copies import fingerprint
from grader.gradebook.lock import only_grader
from grader.grading.changes import Change, note
from grader.grading.seeds import kept_seed, seed_of
from grader.grading.submitted import Submitted, read
from grader.grading.waiting import Judges, Submission, Waiting, sort_out
from grader.judging.engine import Engine, Grade, ThisMachine
from grader.judging.judged_by import Fingerprints
from grader.judging.outcome import Summary, unread
from grader.reading.prepared import Item
from grader.recording.graded import Graded
from grader.recording.recording import record, sweep
from grader.regular_file import Unreadable
from grader.sandbox import Limits

BATCH: Final = 20


@dataclass
class Run:
    """What a run of the grader did.

    Attributes:
        outcomes: of what was graded now.
        left: what nbgrader's own engine had graded, and was not graded again.
        changes: what was judged anew because a lesson had changed.
        n_late: how many late penalties are other than before.

    """

    outcomes: dict[Submission, Summary] = field(default_factory=dict)
    left: list[Submission] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    n_late: int = 0


def autograde(
    course: GradingCourse,
    submissions: Sequence[Submission],
    *,
    n_jobs: int = 1,
    limits: Limits | None = None,
    isolate: bool = True,
    regrade: bool = False,
    engine: Engine | None = None,
) -> Run:
    """Grade submissions that are not graded yet, or were judged by what has changed since.

    Results are recorded in batches; late penalties are set anew, whatever was graded.

    Args:
        course: the course that they are in.
        submissions: (student, lesson) pairs.
        n_jobs: how many are graded at once.
        limits: what each may use.
        isolate: False runs code unisolated, for your own work only.
        regrade: whether to grade again what is graded already.
        engine: where they are graded, if not on this machine as the arguments before say.

    Raises:
        CourseError: another grader is at work, a lesson is not built as its text is, or grades
            cannot be written.
        CannotIsolate: this machine cannot isolate.

    """
    with only_grader(course.folder, course.db_url):
        sweep(course.folder)
        judges = Fingerprints(course.lessons)
        waiting = sort_out(course, submissions, judges, course.book())
        todo = list(submissions) if regrade else waiting.all
        run = Run(left=[] if regrade else waiting.left)
        if todo:
            course.back_up()
            engine = engine or ThisMachine(n_jobs, limits or Limits(), isolate)
            with engine.opened(len(todo), course.folder / ".course") as grade:
                _record_lessons(course, todo)
                outcomes = _outcomes(course, todo, grade, judges)
                shown = tqdm(outcomes, "grading", len(todo), unit="submission")
                for batch in _batches(shown):
                    written = record(course, batch)
                    run.outcomes |= {(g.student, g.lesson.name): g.outcome.summary for g in written}
                    _note_changes(course, written, waiting, run)
        run.n_late = settle(course, is_backed_up=bool(todo))
        return run


def _record_lessons(course: GradingCourse, todo: Sequence[Submission]) -> None:
    for lesson in course.lessons:
        if any(name == lesson.name for _, name in todo):
            course.record(lesson)


def _note_changes(
    course: GradingCourse, batch: Sequence[Graded], waiting: Waiting, run: Run
) -> None:
    """Note what was judged anew; a batch at a time, so that an interruption loses none."""
    keys = [(graded.student, graded.lesson.name) for graded in batch]
    changes = [
        Change(*key, *waiting.changed[key], graded.outcome.scores)
        for key, graded in zip(keys, batch, strict=True)
        if key in waiting.changed and graded.outcome.score is not None
    ]
    note(course.folder, changes)
    run.changes += changes


def _batches(graded: Iterable[Graded]) -> Iterator[list[Graded]]:
    waiting = iter(graded)
    while batch := list(islice(waiting, BATCH)):
        yield batch


def _outcomes(
    course: GradingCourse, todo: Sequence[Submission], grade: Grade, judges: Judges
) -> Iterator[Graded]:
    """Yield what was graded, and as our failure, without a score, what could not be read."""
    lessons = {lesson.name: lesson for lesson in course.lessons}
    kept = kept_seed(course.folder)
    places = count()  # among the items, by which the engine knows them
    at_work: dict[int, tuple[Submission, Submitted]] = {}
    not_read: list[Graded] = []

    def items() -> Iterator[Item]:
        for student, name in todo:
            lesson, _ = lessons[name], judges[name]  # while the fork server warms up
            try:
                sent = read(course, student, name)
            except Unreadable as error:
                not_read.append(_unread(course, student, lesson, error))
                continue
            at_work[next(places)] = (student, name), sent
            yield Item(sent.data, lesson, seed_of(kept, student, name, fingerprint(sent.data)))

    for place, outcome in grade(items()):
        (student, name), sent = at_work.pop(place)
        told = (sent.timestamp, sent.secret)
        yield Graded(student, lessons[name], sent.data, outcome, *told, judges[name])
        while not_read:
            yield not_read.pop()
    yield from not_read


def _unread(course: GradingCourse, student: str, lesson: Lesson, error: Unreadable) -> Graded:
    """Return a submission that could not be read; its file is named as seen from the course."""
    file = Path(error.filename).relative_to(course.folder)
    return Graded(student, lesson, b"", unread(lesson, str(file), error), "")
