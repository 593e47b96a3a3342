"""What grading one submission came to: plain data, for the gradebook, the student and reports."""

from dataclasses import dataclass
from typing import Literal

from utils.checks.verdict import Verdict

Status = Literal["graded", "timed out", "crashed", "malformed", "grader error"]


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise: its verdict, points and, where it was refused or not reached, why.

    Attributes:
        points: what the exercise is worth.
        verdict: None where it could not be judged.
        note: a sentence for the student, where there is more to say than the verdict.
    """

    exercise: str
    points: float
    verdict: Verdict | None
    note: str = ""

    @property
    def score(self) -> float:
        """Points earned."""
        return self.verdict.score if self.verdict is not None else 0.0


@dataclass(frozen=True)
class Outcome:
    """One submission's grade.

    Attributes:
        status: "graded", or why it was not (fully). A grader error is ours, and has no score.
        results: in the order of the lesson.
        notes: sentences for the student about the notebook as a whole.
        seconds: wall-clock time in isolation.
        max_rss_bytes: peak memory in isolation, what it shares with the warm process included.
    """

    lesson: str
    status: Status
    results: tuple[ExerciseResult, ...]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    max_rss_bytes: int = 0

    @property
    def score(self) -> float | None:
        """All points earned; None where the grader failed."""
        if self.status == "grader error":
            return None
        return sum(result.score for result in self.results)
