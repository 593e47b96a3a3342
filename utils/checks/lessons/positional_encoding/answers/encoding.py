"""Sinusoids, a prediction and a repair about them: right answers, and mistakes in predicting."""

import torch

from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.observation import Observation
from utils.reference.positions.by_rotation import reference_encoding


def _fastest() -> str:
    """Measure where the column is that changes most from one position to the next."""
    steps = reference_encoding(1000, 64).diff(dim=0).abs().mean(0)
    if steps.max() < 1.1 * steps.min():
        return "all alike"
    pair = int(steps.argmax()) // 2
    return {0: "first", 31: "last"}.get(pair, "middle")


def _pairs_keep_length(inputs: Inputs, seen: Observation) -> bool:
    table = seen.values.get("encoding")
    if table is None:
        return True
    squares = torch.as_tensor(table).square()
    squares = squares.reshape(len(squares), -1, 2).sum(-1)
    return torch.allclose(squares, torch.ones_like(squares), atol=1e-3)


_UNIT_LAW = Invariant(
    "sin and cos of one pair share an angle, so their squares must sum to one.", _pairs_keep_length
)


EXERCISES = by_id(
    Exercise(
        PROBES["predict_fastest_column"],
        _fastest,
        (
            Mistake(
                "the_last",
                "Many texts do say that the first columns vary slowly and the last ones fast. "
                "Check it.",
                "Put the number of the first pair, 0, and of the last pair into the exponent. "
                "Which of the two frequencies is larger?",
                "last",
            ),
            Mistake(
                "the_middle",
                "The frequencies change in one direction only, so the fastest pair is at one of "
                "the ends.",
                "Put the first, the middle and the last pair's number into the exponent.",
                "middle",
            ),
            Mistake(
                "all_alike",
                "The frequency depends on the number of the column.",
                "Put the first and the last pair's number into the exponent.",
                "all alike",
            ),
        ),
    ),
    Exercise(
        PROBES["sinusoidal_encoding"],
        reference_encoding,
        invariants=(_UNIT_LAW,),
        tolerance=1e-4,
    ),
    Exercise(
        PROBES["repaired_encoding"],
        reference_encoding,
        invariants=(_UNIT_LAW,),
        tolerance=1e-4,
    ),
)
