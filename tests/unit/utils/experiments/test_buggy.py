"""Faulty attention is right where it has no fault, and wrong in one way where it has one."""

import pytest
import torch

from utils.experiments.buggy import with_fault
from utils.reference.modules import TransformerEncoder

B, T, D, H, V = 2, 5, 12, 3, 11


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return TransformerEncoder(V, D, H, 2, 7, 50, 0.0, norm_first=True).eval()


@pytest.fixture
def ids():
    return torch.tensor([[3, 4, 5, 6, 7], [8, 9, 2, 0, 0]])


def test_without_a_fault_it_is_the_encoder_itself(encoder, ids):
    wanted = encoder(ids)[ids != 0]
    torch.testing.assert_close(with_fault(encoder, "none", H)(ids)[ids != 0], wanted)


@pytest.mark.parametrize("fault", ["scale", "mask", "heads"])
def test_every_fault_changes_what_comes_out_and_no_shape(encoder, ids, fault):
    wanted = encoder(ids)
    found = with_fault(encoder, fault, H)(ids)
    assert found.shape == wanted.shape
    assert (found - wanted)[1, 0].abs().max() > 1e-3


@pytest.mark.parametrize(("fault", "moves"), [("none", False), ("scale", False), ("mask", True)])
def test_only_an_ignored_mask_lets_padding_move_a_sentence(encoder, ids, fault, moves):
    faulty = with_fault(encoder, fault, H)
    change = (faulty(ids)[1, :3] - faulty(ids[1:, :3])[0]).abs().max()
    assert (change > 1e-3) == moves
