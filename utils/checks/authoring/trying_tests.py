"""Try a student's own test on a right or a broken version."""

from typing import Any

import torch

from utils.checks.exercise import Inputs
from utils.checks.observation import BY_CHANCE

MORE_TRIES = 4  # of a test that is random: one that decides by chance shows it


def try_test(answer: Any, i: Inputs) -> dict[str, object]:
    """Try a test on the version in the inputs: several times, if it draws random numbers."""
    before = torch.get_rng_state()
    decisions = {_decision(answer, i["version"])}
    if not torch.equal(before, torch.get_rng_state()):
        decisions |= {_decision(answer, i["version"]) for _ in range(MORE_TRIES)}
    return {"your test": decisions.pop() if len(decisions) == 1 else BY_CHANCE}


def _decision(answer: Any, version: Any) -> str:
    try:
        answer(version)
    except AssertionError:
        return "rejects this version"
    return "accepts this version"
