"""Probes that call the answers of lesson 04: the sinusoids, a prediction and a repair."""

from typing import Any

from utils.checks.authoring.calling import name_of_error
from utils.checks.authoring.prediction import asked, prediction
from utils.checks.compare.compare import PREDICTION
from utils.checks.exercise import ExerciseKind, Inputs, Probe, by_exercise, case
from utils.checks.observation import AnswerError, ProblemKind

WORDS = ("first", "middle", "last", "all alike")


def _answer_words(answer: object) -> dict[str, object]:
    named = prediction(answer)
    said = named[PREDICTION]
    word = " ".join(said.lower().split()) if isinstance(said, str) else said
    if word not in WORDS:
        choices = ", ".join(f'"{one}"' for one in WORDS)
        raise AnswerError(ProblemKind.RETURN, f"It should be one of these words: {choices}.")
    return {PREDICTION: word}


def _call_encoding(answer: Any, i: Inputs) -> dict[str, object]:
    if i["d_model"] % 2:
        return {
            "error for an odd d_model": name_of_error(lambda: answer(i["max_len"], i["d_model"]))
        }
    return {"encoding": answer(i["max_len"], i["d_model"])}


PROBES = by_exercise(
    asked("predict_fastest_column", _answer_words),
    Probe(
        "sinusoidal_encoding",
        lambda **sizes: sizes,
        _call_encoding,
        (
            case("three positions", required=True, max_len=3, d_model=4),
            case("one position", max_len=1, d_model=6),
            case("two columns", max_len=7, d_model=2),
            case("three pairs", max_len=5, d_model=6),
            case("longer and wider", max_len=40, d_model=16),
            case("odd d_model", demand="ValueError for an odd d_model", max_len=4, d_model=7),
            case("one column", demand="ValueError for an odd d_model", max_len=2, d_model=1),
            case("thousands of positions", max_len=2100, d_model=2),
        ),
        gradient=False,
    ),
    Probe(
        "repaired_encoding",
        lambda **sizes: sizes,
        _call_encoding,
        (
            case("three positions", required=True, max_len=3, d_model=4),
            case("three pairs", max_len=5, d_model=6),
            case("longer and wider", required=True, max_len=40, d_model=16),
        ),
        kind=ExerciseKind.REPAIR,
        gradient=False,
    ),
    Probe(
        "shift_matrix",
        lambda **sizes: sizes,
        lambda answer, i: {"matrix": answer(i["offset"], i["d_model"])},
        (
            case("one step, two columns", required=True, offset=1, d_model=2),
            case("three steps", offset=3, d_model=4),
            case("backwards", offset=-2, d_model=6),
            case("not at all", offset=0, d_model=6),
        ),
        gradient=False,
    ),
)
