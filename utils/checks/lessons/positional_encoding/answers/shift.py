"""The matrix that shifts sinusoids: the right answer, and a mistake that no patch says."""

import torch

from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.observation import Observation
from utils.reference.positions.by_rotation import reference_encoding, reference_shift


def _moves_encodings(inputs: Inputs, seen: Observation) -> bool:
    start, offset = 50, inputs["offset"]
    table = reference_encoding(start + abs(offset) + 10, inputs["d_model"])
    moved = table[start : start + 5] @ torch.as_tensor(seen.values["matrix"]).T
    return torch.allclose(moved, table[start + offset : start + offset + 5], atol=1e-3)


_SHIFT_LAW = Invariant("M @ PE[p] must be PE[p + offset].", _moves_encodings)

EXERCISES = by_id(
    Exercise(
        PROBES["shift_matrix"],
        reference_shift,
        (
            Mistake(
                "squared_for_each_step",
                "The matrix of one step is multiplied by itself again and again: offsets of 3 and "
                "more move too far.",
                "Squaring doubles the offset: 2, 4, 8. Multiply by the matrix of *one* step each "
                "time, or take the angle times the offset.",
                lambda offset, d_model: reference_shift(2 ** max(offset - 1, 0), d_model),
            ),
        ),
        (_SHIFT_LAW,),
        tolerance=1e-4,
    ),
)
