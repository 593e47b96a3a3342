"""Exercises whose answer is a prediction: a number or a word, given before it is measured."""

from collections.abc import Callable, Collection, Mapping

from utils.checks.compare.compare import PREDICTION
from utils.checks.exercise import Case, ExerciseKind, Probe, case
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


def asked_by_letter(name: str, kind: str, words: Collection[str]) -> Probe:
    """Make a probe that asks for a word for each of A, B and C, in a dictionary.

    Args:
        name: the exercise's id.
        kind: what A, B and C are, in one word.
        words: from which to choose, in small letters.

    """
    return Probe(
        name,
        dict,
        lambda answer, i: _chosen(answer() if callable(answer) else answer, i[kind], words),
        tuple(Case(f"{kind} {letter}", {kind: letter}) for letter in "ABC"),
        kind=ExerciseKind.PREDICT,
        gradient=False,
    )


def _chosen(answer: object, letter: str, words: Collection[str]) -> dict[str, object]:
    """Read the word that was chosen for one letter.

    Raises:
        AnswerError: nothing, no mapping, or a word that is not in the list.

    """
    if answer is None or answer is Ellipsis:
        return prediction(answer)
    if not isinstance(answer, Mapping):
        raise AnswerError(
            ProblemKind.RETURN, 'Keep the braces: {"A": "...", "B": "...", "C": "..."}.'
        )
    chosen = {str(key).strip().upper(): word for key, word in answer.items()}
    if chosen.get(letter) is None and any(word is not None for word in chosen.values()):
        raise AnswerError(ProblemKind.RETURN, f"There is no answer for {letter} yet.")
    found = prediction(chosen.get(letter))
    read: dict[str, object] = {k: " ".join(str(v).lower().split()) for k, v in found.items()}
    if not set(read.values()) <= set(words):
        raise AnswerError(
            ProblemKind.RETURN, f"For {letter}, copy a name from the list: {', '.join(words)}."
        )
    return read
