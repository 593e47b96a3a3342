"""Exercises whose answer is a prediction: a number or a word, said before it is measured."""

from collections.abc import Callable

from utils.checks.calling import AnswerError
from utils.checks.compare import PREDICTION
from utils.checks.exercise import Probe, case


def prediction(answer: object) -> dict[str, object]:
    """Take a prediction: a number or a string, or (from our own side) a function that finds it.

    Raises:
        AnswerError: nothing was predicted yet.
    """
    value = answer() if callable(answer) else answer
    if value is None or value is Ellipsis:
        raise AnswerError("stub", "No prediction yet: put your answer in place of None.")
    return {PREDICTION: value}


def asked(name: str, read: Callable[[object], dict[str, object]] = prediction) -> Probe:
    """Ask for one prediction.

    Args:
        name: the exercise's id.
        read: takes what the student wrote.
    """
    return Probe(
        name,
        dict,
        lambda answer, _: read(answer),
        (case("your prediction", required=True),),
        kind="predict",
        gradient=False,
    )
