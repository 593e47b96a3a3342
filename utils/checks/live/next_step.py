"""Say what to try next where nothing is known of a wrong answer: no verdict ends in silence."""

from dataclasses import replace
from typing import Final

from utils.checks.exercise import Exercise, ExerciseKind
from utils.checks.observation import ProblemKind
from utils.checks.verdict import Verdict

_OF_AN_ERROR: Final = (
    "No usual cause of this error is known. Call your code in a new cell, with inputs of these "
    "sizes, and print what the line above works with."
)
_OF_A_RESULT: Final = (
    "No known mistake gives this. Call your code in a new cell with a small input, and work out by "
    "hand what the first difference above should be: which line gives something else?"
)
_OF_A_SHAPE: Final = (
    "Call your code in a new cell and print the shape of what each line gives: which is the first "
    "that is not as you meant it?"
)
_OF_A_GRADIENT: Final = (
    "The result is right in this case, and its gradient is not: which step of your code passes no "
    "gradient back, or another one than the formula's?"
)
_OF_A_PREDICTION: Final = (
    "Go through it once more, step by step: which of the numbers have you not used, or used twice?"
)
_OF_A_TEST: Final = (
    "Try your test on the right version and on a wrong one in a new cell, and look at which line "
    "decides."
)
_OF_A_STUB: Final = (
    "Write it in its cell, run that cell (Shift+Enter), then this one. Written already? Then its "
    "cell has not run since."
)
_BY_KIND: Final[dict[str, str]] = {  # of others the finding's own sentence says what to do
    ProblemKind.STUB: _OF_A_STUB,
    ProblemKind.EXCEPTION: _OF_AN_ERROR,
    ProblemKind.BACKWARD: _OF_AN_ERROR,
    ProblemKind.VALUES: _OF_A_RESULT,
    ProblemKind.SHAPE: _OF_A_SHAPE,
    ProblemKind.GRADIENT: _OF_A_GRADIENT,
}
_BY_EXERCISE: Final[dict[ExerciseKind, str]] = {
    ExerciseKind.PREDICT: _OF_A_PREDICTION,
    ExerciseKind.TEST_THE_TEST: _OF_A_TEST,
}


def with_a_next_step(exercise: Exercise, verdict: Verdict) -> Verdict:
    """Give a failed verdict that explains nothing a sentence on how to find out more.

    Args:
        exercise: what was asked.
        verdict: with the mistake and the symptoms that were found, if any were.

    """
    shown = verdict.first_failure
    if shown is None or shown.finding is None or verdict.mistake or verdict.symptoms:
        return verdict
    of_kind = _BY_KIND.get(shown.finding.kind, "")
    by_exercise = {} if verdict.is_stub else _BY_EXERCISE
    says = by_exercise.get(exercise.probe.kind, of_kind) if of_kind else ""
    return replace(verdict, symptoms=(says,)) if says else verdict
