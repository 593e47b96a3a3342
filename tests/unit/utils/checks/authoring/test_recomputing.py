"""Right modules that are computed once more on the way back lose nothing."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from utils.checks import check
from utils.checks.authoring.swapping import call_with


class Recomputing(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0, *, reentrant=False):
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout, self.reentrant = nn.Dropout(dropout), reentrant

    def forward(self, x):
        return checkpoint(self.run, x, use_reentrant=self.reentrant)

    def run(self, x):
        return self.linear_2(self.dropout(self.linear_1(x).relu()))


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradients_reach_the_parameters_that_were_lent(reentrant):
    module, x = Recomputing(3, 5, reentrant=reentrant), torch.randn(2, 3)
    lent = {name: torch.randn_like(p).requires_grad_() for name, p in module.named_parameters()}
    loss = call_with(module, lent, x).square().sum()
    found = torch.autograd.grad(loss, list(lent.values()))
    hidden = (x @ lent["linear_1.weight"].T + lent["linear_1.bias"]).relu()
    output = hidden @ lent["linear_2.weight"].T + lent["linear_2.bias"]
    wanted = torch.autograd.grad(output.square().sum(), list(lent.values()))
    assert all(map(torch.allclose, found, wanted))


def test_a_right_layer_with_checkpoints_passes():
    assert check.FeedForward.verdict(Recomputing).passed


def test_afterwards_parts_are_computed_again_as_before():
    calls = []
    call_with(Recomputing(3, 5), {}, torch.randn(2, 3))
    x = torch.randn(2, requires_grad=True)
    checkpoint(lambda y: calls.append(1) or y * y, x, use_reentrant=False).sum().backward()
    assert len(calls) == 2
