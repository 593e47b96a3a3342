"""Tensors that play being on another device: they behave as torch's tensors on a GPU do."""

import pytest
import torch

from utils.checks.authoring.devices import elsewhere, is_made_there

LENGTHS = torch.tensor([3, 1])
THERE = {
    "made there": lambda x, n: torch.arange(n, device=x.device) < x[:, None],
    "new_ones": lambda x, n: x.new_ones(n).cumsum(0) <= x[:, None],
    "ones_like": lambda x, n: torch.ones_like(x)[:, None].expand(-1, n).cumsum(1) <= x[:, None],
    "moved there": lambda x, n: torch.arange(n).to(x.device) < x[:, None],
    "moved to a tensor": lambda x, n: torch.arange(n).to(x) < x[:, None],
    "numbers read": lambda x, n: torch.stack(
        [torch.arange(n, device=x.device) < int(length) for length in x]
    ),
    "made from numbers and moved": lambda x, n: torch.tensor(
        [[s < length for s in range(n)] for length in x.tolist()]
    ).to(x.device),
}
HERE = {
    "made here": lambda x, n: torch.arange(n) < x[:, None],
    "moved here": lambda x, n: torch.arange(n) < x.cpu()[:, None],
    "moved here by name": lambda x, n: torch.arange(n) < x.to("cpu")[:, None],
    "made from numbers": lambda x, n: torch.tensor(
        [[s < length for s in range(n)] for length in x.tolist()]
    ),
    "made here, row by row": lambda x, n: torch.stack([torch.arange(n) < length for length in x]),
}


@pytest.mark.parametrize("form", THERE)
def test_what_is_made_or_moved_there_is_there(form):
    assert is_made_there(lambda: THERE[form](elsewhere(LENGTHS), 5))


@pytest.mark.parametrize("form", HERE)
def test_what_is_made_or_moved_here_is_not(form):
    assert not is_made_there(lambda: HERE[form](elsewhere(LENGTHS), 5))


@pytest.mark.parametrize("form", THERE.values())
def test_numbers_are_those_of_this_device(form):
    wanted, found = form(LENGTHS, 5), []
    is_made_there(lambda: found.append(form(elsewhere(LENGTHS), 5)))
    assert torch.equal(found[0].cpu(), wanted)


def test_what_was_kept_from_there_meets_nothing_here():
    kept = elsewhere(LENGTHS)
    with pytest.raises(RuntimeError, match="same device"):
        kept + LENGTHS


def test_another_error_is_not_held_against_an_answer():
    assert is_made_there(lambda: elsewhere(LENGTHS) @ elsewhere(torch.ones(7, dtype=torch.long)))
