"""Modules that are called with parameters that are not their own."""

import pytest
import torch
from torch import nn

from utils.checks.authoring.calling import call_with


class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        with torch.no_grad():
            self.weight *= 2
        return x * self.weight


class Replacing(Growing):
    def forward(self, x):
        self.weight = self.weight * 2
        return x * self.weight


def test_a_lent_parameter_can_be_changed_in_place_as_an_own_one_can():
    module, lent = Growing(), torch.full((3,), 5.0, requires_grad=True)
    assert call_with(module, {"weight": lent}, torch.ones(3)).tolist() == [10.0] * 3
    assert module.weight.tolist() == [1.0] * 3
    assert module(torch.ones(3)).tolist() == [2.0] * 3


@pytest.mark.parametrize("lend", [True, False])
def test_another_tensor_is_no_parameter_wherever_the_old_one_comes_from(lend):
    module = Replacing()
    with pytest.raises(TypeError, match="cannot assign"):
        call_with(module, {"weight": torch.ones(3)} if lend else {}, torch.ones(3))


def test_afterwards_attributes_are_set_as_before():
    before = nn.Module.__setattr__
    call_with(Growing(), {}, torch.ones(3))
    assert nn.Module.__setattr__ is before
