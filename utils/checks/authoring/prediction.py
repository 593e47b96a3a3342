"""Exercises whose answer is a prediction: a number or a word, given before it is measured."""

from collections.abc import Callable

from utils.checks.compare.compare import PREDICTION
from utils.checks.exercise import ExerciseKind, Probe, case
from utils.checks.observation import AnswerError, ProblemKind


def prediction(answer: object) -> dict[str, object]:
    """Read a prediction: a number or a string, or (on our own side) a function that finds it.

    Raises:
        AnswerError: nothing has been predicted yet.

    """
    value = answer() if callable(answer) else answer
    if value is None or value is Ellipsis:
        raise AnswerError(ProblemKind.STUB, "No prediction yet: put your answer in place of None.")
    return {PREDICTION: value}


def asked(name: str, read: Callable[[object], dict[str, object]] = prediction) -> Probe:
    """Make a probe that asks for one prediction.

    Args:
        name: the exercise's id.
        read: turns what the student wrote into named results.

    """
    return Probe(
        name,
        dict,
        lambda answer, _: read(answer),
        (case("your prediction", required=True),),
        kind=ExerciseKind.PREDICT,
        gradient=False,
    )
