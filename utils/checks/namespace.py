"""``check``: the one name that notebooks import to have an answer judged."""

from collections.abc import Mapping, Sequence
from typing import Any

from IPython.display import display

from utils.checks.exercise import Exercise, hidden_case
from utils.checks.judge import judge
from utils.checks.observe import observe_all, one_thread
from utils.checks.registry import exercises, find_exercise
from utils.checks.verdict import Verdict


class ExerciseCheck:
    """The check of one exercise."""

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise

    def __repr__(self) -> str:
        name = self._exercise.id
        return f"<check of {name}: call it with your answer, check.{name}({name})>"

    def __call__(
        self, answer: Any, *, points: float | None = None, hidden: Sequence[Mapping[str, Any]] = ()
    ) -> float | None:
        """Show the verdict on an answer.

        Args:
            answer: the student's function, class or prediction.
            points: given in grading only: what the exercise is worth.
            hidden: further cases, in grading only.

        Returns:
            The points earned where ``points`` is given (a test cell's last value is its grade for
            nbgrader), else None.
        """
        if points is None:
            display(self.verdict(answer))
            return None
        verdict = self.verdict(answer, points=points, hidden=hidden)
        display(verdict)
        return verdict.score

    def verdict(
        self, answer: Any, *, points: float | None = None, hidden: Sequence[Mapping[str, Any]] = ()
    ) -> Verdict:
        """Judge an answer without showing anything; arguments as in a call."""
        probe = self._exercise.probe
        cases = (*probe.cases, *map(hidden_case, hidden))
        with one_thread():
            observations = observe_all(probe, cases, answer, quiet=points is not None)
            return judge(self._exercise, cases, observations, points)


class Check:
    """Finds the check of an exercise by its id: ``check.split_heads(split_heads)``."""

    def __getattr__(self, name: str) -> ExerciseCheck:
        if name.startswith("_"):
            raise AttributeError(name)  # IPython asks for many names that no exercise has
        return ExerciseCheck(find_exercise(name))

    def __dir__(self) -> list[str]:
        return list(exercises())

    def __repr__(self) -> str:
        return f"<checks of {len(exercises())} exercises: {', '.join(exercises())}>"


check = Check()
