"""The stable softmax: an independent right answer."""

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, Inputs, Invariant, by_id
from utils.checks.lessons.start_here.probes import PROBES
from utils.checks.observation import Observation

# Bound at import: torch lacks this name while an answer is observed.
_torch_softmax = torch.softmax


def softmax_oracle(x: Tensor, dim: int = -1) -> Tensor:
    """Return torch's softmax, with 0 where a whole slice is minus infinity."""
    blocked = (x == -torch.inf).all(dim, keepdim=True)
    return _torch_softmax(x.masked_fill(blocked, 0.0), dim).masked_fill(blocked, 0.0)


def _sums_to_one(inputs: Inputs, seen: Observation) -> bool:
    expected = softmax_oracle(inputs["x"], inputs["dim"]).sum(inputs["dim"])
    sums = torch.as_tensor(seen.values["probabilities"]).sum(inputs["dim"])
    return torch.allclose(sums, expected, atol=1e-4)


_SUMS = Invariant("Each slice must sum to one (to zero where all is blocked).", _sums_to_one)

EXERCISES = by_id(
    Exercise(PROBES["stable_softmax"], softmax_oracle, invariants=(_SUMS,)),
)
