"""One student's feedback on one lesson, as a page shows it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import structs

from grader.authoring.lesson import Lesson
from grader.authoring.regions import stubbed
from grader.course.book import Mark, Record, Remark
from grader.course.graded_copies import FAILED, Answer, GradedCopy
from grader.course.wording import span
from grader.nbgrader_plugins.feedback import ANSI, hidden_lines, without_lines
from grader.pages.rendering import moment, render, zone

NO_RESPONSE: Final = "No response."  # nbgrader's own remark on a stub; the page says it itself
MOST_REMARK: Final = 4_000
MOST_CODE: Final = 12_000  # characters of one answer
MOST_NOTE: Final = 1_000
MOST_NOTES: Final = 20
CUT: Final = "\n... (cut here: too long for this page)"


class State(StrEnum):
    """How an exercise went."""

    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "wrong"
    EMPTY = "not written"
    UNJUDGED = "not graded"


@dataclass(frozen=True)
class LessonToShow:
    """What pages need of a lesson.

    Attributes:
        name: "02_attention".
        title: as its text has it ("02 · Attention: looking back directly").
        exercises: exercise -> points, in order.
        sections: exercise -> the heading that it stands under.
        hidden: lines of the hidden tests, which no page may show.
        stubs: exercise -> its cell as students get it.

    """

    name: str
    title: str
    exercises: dict[str, float]
    sections: dict[str, str]
    hidden: tuple[str, ...]
    stubs: dict[str, str]

    @property
    def points(self) -> float:
        """The points of all exercises."""
        return sum(self.exercises.values())


@dataclass(frozen=True)
class ShownExercise:
    """One exercise on the page.

    Attributes:
        elsewhere: whether an answer was judged that does not stand in the exercise's own cell.

    """

    id: str
    section: str
    points: float
    mark: Mark
    answer: Answer
    remark: Remark
    elsewhere: bool

    @property
    def state(self) -> State:
        """How it went, by the points that count."""
        verdict = self.answer.verdict
        if self.mark.manual is None and verdict is None:
            return State.UNJUDGED
        if self.mark.score >= self.points:
            return State.RIGHT
        if self.mark.manual is None and verdict is not None and verdict.is_stub:
            return State.EMPTY
        return State.PARTLY if self.mark.score > 0 else State.WRONG


@dataclass(frozen=True)
class FeedbackPage:
    """The page: who, what, when, how it went, and every exercise."""

    student: str
    lesson: LessonToShow
    record: Record
    copy: GradedCopy
    exercises: tuple[ShownExercise, ...]
    handed_in: str
    due: str
    lateness: str

    @property
    def name_or_id(self) -> str:
        """What to call the student."""
        return self.record.name or self.student

    @property
    def points(self) -> float:
        """The points of all exercises on the page."""
        return sum(exercise.points for exercise in self.exercises)

    @property
    def to_fix(self) -> list[ShownExercise]:
        """The exercises that lost points, in order."""
        return [exercise for exercise in self.exercises if exercise.state != State.RIGHT]

    @property
    def right(self) -> list[ShownExercise]:
        """The exercises with all points, in order."""
        return [exercise for exercise in self.exercises if exercise.state == State.RIGHT]

    @property
    def is_scored(self) -> bool:
        """Whether there is a score: our own failure is never shown as zero points."""
        return self.copy.status != FAILED

    @property
    def total(self) -> float:
        """The points that count, less what lateness costs."""
        earned = sum(exercise.mark.score for exercise in self.exercises)
        return max(0.0, earned - self.record.penalty)

    @property
    def counted(self) -> float:
        """The total, or 0 while there is no score."""
        return self.total if self.is_scored else 0.0

    @property
    def first(self) -> ShownExercise | None:
        """What to fix first: the first exercise that was tried and whose cause is known."""
        named = [e for e in self.to_fix if e.answer.verdict and e.answer.verdict.causes]
        return next(iter([*named, *self.to_fix]), None)


def lesson_to_show(lesson: Lesson) -> LessonToShow:
    """Take from a lesson what pages need."""
    sections, title, section = {}, "", ""
    for cell in lesson.cells:
        for line in cell.source.splitlines() if not cell.exercise and not cell.test else ():
            title = title or line.removeprefix("# ") * line.startswith("# ")
            section = line.removeprefix("## ") if line.startswith("## ") else section
        if cell.exercise:
            sections[cell.exercise] = section.replace("$", "").replace("\\", "")
    hidden = {line for exercise in lesson.exercises for line in hidden_lines(exercise.test_source)}
    points = {exercise.id: exercise.points for exercise in lesson.exercises}
    stubs = {exercise.id: stubbed(exercise.source, exercise.id) for exercise in lesson.exercises}
    return LessonToShow(
        lesson.name, title or lesson.name, points, sections, tuple(sorted(hidden)), stubs
    )


def feedback_page(
    record: Record, lesson: LessonToShow, copy: GradedCopy, zone_name: str
) -> FeedbackPage:
    """Put a page's content together."""
    where, given = zone(zone_name), copy.answers
    answers = {name: _to_show(given.get(name, Answer()), lesson) for name in lesson.exercises}
    notes = tuple(_bounded(note, MOST_NOTE) for note in copy.notes[:MOST_NOTES])
    exercises = tuple(
        ShownExercise(
            name,
            lesson.sections.get(name, ""),
            record.marks[name].points if name in record.marks else points,
            record.marks.get(name) or Mark(answers[name].score, None, 0.0, points),
            answers[name],
            _remark(record, name),
            _stands_elsewhere(answers[name], lesson.stubs[name]),
        )
        for name, points in lesson.exercises.items()
    )
    handed_in = _handed_in(record, where)
    due = moment(record.due, where) if record.due else ""
    shown = structs.replace(copy, notes=notes, answers=answers)
    told = handed_in, due, _lateness(record)
    return FeedbackPage(record.student, lesson, record, shown, exercises, *told)


def _to_show(answer: Answer, lesson: LessonToShow) -> Answer:
    """Return an answer without what no page may show, and not longer than a page should be."""
    seen = without_lines(_bounded(answer.seen, 4 * MOST_NOTE), lesson.hidden)
    notes = [_bounded(ANSI.sub("", note), MOST_NOTE) for note in answer.notes[:MOST_NOTES]]
    return structs.replace(
        answer,
        source=_bounded(answer.source, MOST_CODE),
        case="",
        message=seen,
        details=(),
        line="",
        notes=tuple(without_lines(note, lesson.hidden) for note in notes),
    )


def _bounded(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + CUT


def _stands_elsewhere(answer: Answer, stub: str) -> bool:
    is_written = answer.verdict is not None and not answer.verdict.is_stub
    return is_written and answer.source.strip() in ("", stub.strip())


def _remark(record: Record, name: str) -> Remark:
    remark = record.remarks.get(name, Remark("", ""))
    auto = "" if remark.auto == NO_RESPONSE else remark.auto[:MOST_REMARK]
    return Remark(auto, remark.manual[:MOST_REMARK])


def _handed_in(record: Record, where: ZoneInfo) -> str:
    """Return when it was handed in, as far as that is known."""
    if record.handed_in is None:
        return ""
    when = moment(record.handed_in, where)
    if record.came is None or record.came.is_exact:
        return when
    return f"by {when}" if record.came.is_day_known else "after the lesson was due for all"


def _lateness(record: Record) -> str:
    if record.handed_in is None or record.due is None:
        return ""
    how = f"{span(record.late_by)} late" if record.is_day_known else "late (the day is not known)"
    late = how if record.late_by else "on time"
    return f"{late}, with an extension of {span(record.extension)}" if record.extension else late


def page_text(page: FeedbackPage, inputs: str) -> str:
    """Return the page as HTML; `inputs` identifies what it was made from."""
    return render("feedback.html", page=page, inputs=inputs)
