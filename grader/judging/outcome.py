"""The result of grading one submission: plain data for the gradebook, the student and reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from grader.authoring.lesson import Lesson
from grader.regular_file import Unreadable
from grader.sandbox import Ending
from utils.checks.verdict import Verdict


class Status(StrEnum):
    """What became of a submission."""

    GRADED = "graded"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"
    MALFORMED = "malformed"
    GRADER_ERROR = "grader error"


# What a student reads about each way a notebook's process can end.
ENDINGS: Final[Mapping[Ending, tuple[Status, str]]] = {
    Ending.FINISHED: (Status.GRADED, ""),
    Ending.TIMED_OUT: (
        Status.TIMED_OUT,
        "Grading stopped at the time limit: something does not finish.",
    ),
    Ending.CRASHED: (
        Status.CRASHED,
        "The notebook ended its own process before grading was done.",
    ),
    Ending.TOO_MUCH_OUTPUT: (
        Status.CRASHED,
        "The notebook sent more data than grading takes.",
    ),
    Ending.TOO_MANY_FILES: (
        Status.CRASHED,
        "The notebook wrote more files than grading allows.",
    ),
    Ending.GARBLED: (Status.CRASHED, "The notebook disturbed its own grading."),
    Ending.NOT_ISOLATED: (
        Status.GRADER_ERROR,
        "The machine could not isolate the notebook.",
    ),
}
GRADER_FAILED: Final = "The grader failed on this notebook: {error}. The next run tries once more."
LOST: Final = GRADER_FAILED.format(error="something ended it again and again")
KILLED: Final = GRADER_FAILED.format(
    error="something killed the notebook's process again and again; the machine may be short of "
    "memory"
)

UNREAD: Final = (
    "The grader could not read {file} ({reason}), so there is no score yet. Whoever grades: "
    "{helps}, then grade again."
)


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise: its verdict, points and, if it was refused or not reached, why.

    Attributes:
        points: what the exercise is worth.
        verdict: None if it could not be judged.
        note: a sentence for the student, if there is more to say than the verdict.

    """

    exercise: str
    points: float
    verdict: Verdict | None
    note: str = ""

    @property
    def score(self) -> float:
        """The points earned."""
        return self.verdict.score if self.verdict is not None else 0.0


@dataclass(frozen=True)
class Summary:
    """What is kept of an outcome to the end of a run: verdicts would fill the memory.

    The attributes are those of an `Outcome`.
    """

    status: Status
    score: float | None
    notes: tuple[str, ...]
    unusual: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """One submission's grade.

    Attributes:
        status: "graded", or why it was not (fully). A grader error is ours and has no score.
        results: in the order of the lesson.
        notes: sentences for the student about the notebook as a whole.
        unusual: what it touches that no lesson asks for, for instructors to look at.
        seconds: wall-clock time in isolation.

    """

    lesson: str
    status: Status
    results: tuple[ExerciseResult, ...]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    unusual: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """All points earned; None if the grader failed."""
        if self.status == Status.GRADER_ERROR:
            return None
        return sum(result.score for result in self.results)

    @property
    def summary(self) -> "Summary":
        """What a run keeps of it."""
        return Summary(self.status, self.score, self.notes, self.unusual)

    @property
    def scores(self) -> dict[str, float]:
        """The points earned, by exercise."""
        return {result.exercise: result.score for result in self.results}


def grader_failed(lesson: Lesson, error: Exception) -> Outcome:
    """Report our own failure on one submission: loud, without a score, harmless to the others."""
    what = f"{type(error).__name__}: {error}"[:400].rstrip(".")
    return without_run(lesson, Status.GRADER_ERROR, GRADER_FAILED.format(error=what))


def unread(lesson: Lesson, file: str, error: Unreadable) -> Outcome:
    """Report that a submission's file could not be read: its student may have done all right."""
    helps = error.helps[0].lower() + error.helps[1:]
    told = UNREAD.format(file=file, reason=error.strerror, helps=helps)
    return without_run(lesson, Status.GRADER_ERROR, told)


def without_run(lesson: Lesson, status: Status, sentence: str) -> Outcome:
    """Return the outcome of a submission that could not be run at all."""
    empty = tuple(ExerciseResult(e.id, e.points, None, sentence) for e in lesson.exercises)
    return Outcome(lesson.name, status, empty, (sentence,))
