"""What dropout does to single entries."""

import pytest
import torch
from torch.nn import functional as F

from utils.checks.authoring.dropping import factor_of, facts_of_dropping

RATE, SHAPE = 0.25, (6, 9, 12)
TOGETHER = ("sentences", "columns", "words")


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def facts(train):
    return tuple(facts_of_dropping(train == 0, train != 0, RATE, TOGETHER).values())


def dropped(rate=RATE, axes=()):
    of_fates = torch.ones([1 if axis in axes else size for axis, size in enumerate(SHAPE)])
    return torch.ones(SHAPE) * F.dropout(of_fates, rate)


def test_single_entries_are_dropped_as_asked():
    assert facts(dropped()) == ("as asked", "single entries")


@pytest.mark.parametrize(("rate", "said"), [(0.5, "more than asked"), (0.0, "less than asked")])
def test_another_share_is_told(rate, said):
    assert facts(dropped(rate)) == (said, "single entries")


@pytest.mark.parametrize("axis", range(3))
def test_what_is_dropped_at_once_is_told(axis):
    assert facts(dropped(axes=(axis,)))[1] == TOGETHER[axis]


def test_unknown_entries_decide_nothing():
    train = dropped()
    known = torch.rand(SHAPE) < 0.5
    told = facts_of_dropping((train == 0) & known, (train != 0) & known, RATE, TOGETHER)
    assert tuple(told.values()) == ("as asked", "single entries")


def test_the_factor_is_one_number_or_0():
    before = torch.tensor([1.0, 2.0, 4.0])
    assert factor_of(before / 0.75, before, 1e-3) == 1.33
    assert factor_of(before + 1, before, 1e-3) == 0.0
    assert factor_of(before[:0], before[:0], 1e-3) == 0.0
