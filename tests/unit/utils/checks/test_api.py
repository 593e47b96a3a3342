"""What a check says of an answer, in whole and in its results alone."""

import pytest
import torch

from utils.checks.api import ExerciseCheck
from utils.checks.registry import find_exercise

ANSWERS = {
    "right": lambda a, b: torch.einsum("btd,bsd->bts", a, b),
    "turned": lambda a, b: torch.einsum("btd,bsd->bst", a, b),
    "stops": lambda a, b: a + b.sum(1, keepdim=True)[..., :2],
    "writes into its input": lambda a, b: a.mul_(1.0) @ b.mT,
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_results_alone_give_the_points_and_findings_of_a_whole_verdict(kind):
    check = ExerciseCheck(find_exercise("pairwise_dot"))
    whole, alone = check.verdict(ANSWERS[kind]), check.results(ANSWERS[kind])
    assert (alone.score, alone.passed) == (whole.score, whole.passed)
    assert alone.idea_is_right == whole.idea_is_right
    assert [r.passed for r in alone.results] == [r.passed for r in whole.results]
    assert whole.passed == (kind == "right")


def test_results_alone_seek_no_cause():
    check = ExerciseCheck(find_exercise("pairwise_dot"))
    whole, alone = check.verdict(ANSWERS["turned"]), check.results(ANSWERS["turned"])
    assert whole.mistake is not None
    assert (alone.mistake, alone.second, alone.symptoms) == (None, None, ())
