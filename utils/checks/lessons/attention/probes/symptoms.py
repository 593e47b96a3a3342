"""The probe of lesson 02's bug hunt: which bug is behind which picture."""

from collections.abc import Mapping
from typing import Any

from utils.checks.authoring.prediction import prediction
from utils.checks.exercise import ExerciseKind, Inputs, Probe, by_exercise, case
from utils.checks.observation import AnswerError, ProblemKind

BUGS = (
    "mask ignored",
    "masked too late",
    "scaled twice",
    "scaling forgotten",
    "softmax over queries",
    "softmax twice",
)


def _named(answer: Any, i: Inputs) -> dict[str, object]:
    """Read the bug that was named for one symptom.

    Raises:
        AnswerError: nothing, no mapping, or a name that is not in the list.

    """
    bugs, letter = answer() if callable(answer) else answer, i["symptom"]
    if bugs is None or bugs is Ellipsis:
        return prediction(bugs)
    if not isinstance(bugs, Mapping):
        raise AnswerError(
            ProblemKind.RETURN, 'Keep the braces: {"A": "...", "B": "...", "C": "..."}.'
        )
    answers = {str(key).strip().upper(): bug for key, bug in bugs.items()}
    if answers.get(letter) is None and any(bug is not None for bug in answers.values()):
        raise AnswerError(ProblemKind.RETURN, f"There is no answer for {letter} yet.")
    named = prediction(answers.get(letter))
    words: dict[str, object] = {k: " ".join(str(v).lower().split()) for k, v in named.items()}
    if not set(words.values()) <= set(BUGS):
        raise AnswerError(
            ProblemKind.RETURN, f"For {letter}, copy a name from the list: {', '.join(BUGS)}."
        )
    return words


PROBES = by_exercise(
    Probe(
        "predict_bug_of_symptom",
        dict,
        _named,
        (
            case("picture A", symptom="A"),
            case("picture B", symptom="B"),
            case("picture C", symptom="C"),
        ),
        kind=ExerciseKind.PREDICT,
        gradient=False,
    ),
)
