"""What a class did in a lesson: counts for the instructor's page."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup

from grader.course.safe_text import few
from grader.pages.charts import histogram, stacked_bar
from grader.pages.feedback_page import FeedbackPage, LessonToShow, ShownExercise, State
from grader.pages.similarity import Pair

STUCK_BELOW: Final = 0.5  # of the points
HARD_BELOW: Final = 0.5  # of the students
MOST_CAUSES: Final = 15
MOST_ABSENT: Final = 20


@dataclass(frozen=True)
class NamedCause:
    """A known mistake, and who made it."""

    exercise: str
    message: str
    hint: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class ExerciseSummary:
    """How a class did in one exercise.

    Attributes:
        counts: state -> how many students.
        mean: of the points earned.
        unnamed: students who lost points and got no cause named.
        first: student -> share of the points at the first try, of those of whom it is recorded.

    """

    id: str
    points: float
    counts: dict[State, int]
    mean: float
    unnamed: tuple[str, ...]
    first: Mapping[str, float]

    @property
    def share_right_at_first(self) -> float | None:
        """The share of those who wrote it who had it right at the first try; None if nobody."""
        shares = self.first.values()
        return sum(share == 1 for share in shares) / len(shares) if shares else None

    @property
    def share_right(self) -> float:
        """The share of those judged who earned all points."""
        judged = sum(self.counts.values()) - self.counts[State.UNJUDGED]
        return self.counts[State.RIGHT] / judged if judged else 1.0

    @property
    def chart(self) -> Markup:
        """The counts as a bar."""
        return stacked_bar({state.value: count for state, count in self.counts.items()})


@dataclass(frozen=True)
class LessonReport:
    """One lesson of the class report; the pages are of all students with a graded copy.

    Attributes:
        pairs: similar answers; None if they cannot be compared.
        absent: who of the roster handed in nothing.
        published: student -> the exercises whose answers are the published text.

    """

    lesson: LessonToShow
    pages: tuple[FeedbackPage, ...]
    pairs: tuple[Pair, ...] | None
    absent: tuple[str, ...] = ()
    published: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def scored(self) -> list[FeedbackPage]:
        """The pages with a score."""
        return [page for page in self.pages if page.is_scored]

    @property
    def absent_named(self) -> str:
        """The first who handed in nothing, and how many more."""
        return few(self.absent, MOST_ABSENT)

    @property
    def median(self) -> float:
        """The median of the totals."""
        return statistics.median([page.total for page in self.scored] or [0.0])

    @property
    def chart(self) -> Markup:
        """How the totals are spread."""
        return histogram([page.total / page.points for page in self.scored if page.points])

    @property
    def exercises(self) -> list[ExerciseSummary]:
        """Every exercise, in order."""
        return [_summary(name, self.scored) for name in self.lesson.exercises]

    @property
    def hard(self) -> list[ExerciseSummary]:
        """The exercises that fewer than half of the class have right, the hardest first."""
        hard = [e for e in self.exercises if e.share_right < HARD_BELOW]
        return sorted(hard, key=lambda summary: summary.share_right)

    @property
    def misleading(self) -> list[tuple[ExerciseSummary, float]]:
        """The exercises that fewer than half had right at the first try, the lowest rate first."""
        rates = [(e, rate) for e in self.exercises if (rate := e.share_right_at_first) is not None]
        return sorted((pair for pair in rates if pair[1] < HARD_BELOW), key=lambda pair: pair[1])

    @property
    def causes(self) -> list[NamedCause]:
        """The known mistakes that were named, the most frequent first."""
        return sorted(_causes(self.scored), key=lambda cause: -len(cause.students))

    @property
    def shared(self) -> list[NamedCause]:
        """Mistakes that exactly two students of a class of more than four made."""
        many = len(self.scored) > 4
        return [cause for cause in self.causes if many and len(cause.students) == 2]

    @property
    def stuck(self) -> list[FeedbackPage]:
        """Who has less than half of the points, the fewest points first."""
        low = [page for page in self.scored if page.total < STUCK_BELOW * page.points]
        return sorted(low, key=lambda page: (page.total, page.student))

    @property
    def stopped(self) -> list[FeedbackPage]:
        """Whose notebook did not run to its end, or has a note."""
        return [page for page in self.pages if page.copy.status != "graded" or page.copy.notes]


def _summary(name: str, pages: Sequence[FeedbackPage]) -> ExerciseSummary:
    found = [(page.student, _exercise(page, name)) for page in pages]
    states = Counter(exercise.state for _, exercise in found)
    unnamed = [student for student, exercise in found if _is_unnamed(exercise)]
    points = max((exercise.points for _, exercise in found), default=0.0)
    mean = statistics.fmean([exercise.mark.score for _, exercise in found] or [0.0])
    tries = {page.student: page.copy.first_tries.get(name) for page in pages}
    first = {student: found.share for student, found in tries.items() if found is not None}
    return ExerciseSummary(name, points, {s: states[s] for s in State}, mean, tuple(unnamed), first)


def _exercise(page: FeedbackPage, name: str) -> ShownExercise:
    return next(exercise for exercise in page.exercises if exercise.id == name)


def _is_unnamed(exercise: ShownExercise) -> bool:
    verdict = exercise.answer.verdict
    tried = exercise.state in (State.WRONG, State.PARTLY)
    return tried and verdict is not None and verdict.is_unnamed


def _causes(pages: Sequence[FeedbackPage]) -> list[NamedCause]:
    who: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for page in pages:
        for exercise in page.to_fix:
            for cause in exercise.answer.verdict.causes if exercise.answer.verdict else ():
                who[exercise.id, cause.message, cause.hint].append(page.student)
    return [NamedCause(*key, tuple(students)) for key, students in who.items()]
