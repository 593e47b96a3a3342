"""Rotary positions: the right answer."""

import torch

from utils.checks.exercise import Exercise, Inputs, Invariant, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.observation import Observation
from utils.reference.positions.by_rotation import reference_rotary


def _keeps_length(inputs: Inputs, seen: Observation) -> bool:
    if "turned" not in seen.values:  # some cases observe the dtype alone
        return True
    lengths = torch.as_tensor(seen.values["turned"]).norm(dim=-1)
    return torch.allclose(lengths, inputs["x"].float().norm(dim=-1), rtol=1e-3, atol=1e-4)


ROTARY = Exercise(
    PROBES["rotary_embedding"],
    reference_rotary,
    invariants=(Invariant("A rotation changes no vector's length.", _keeps_length),),
    tolerance=1e-4,
)

EXERCISES = by_id(ROTARY)
