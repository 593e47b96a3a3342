"""Faulty attention is right where it has no fault, and wrong in one way where it has one."""

from copy import deepcopy

import pytest
import torch

from utils.checks import check
from utils.experiments.buggy import broken_split_heads, symptoms, with_fault
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


def test_queries_and_keys_are_turned_and_values_are_not(encoder, ids):
    doubled = with_fault(deepcopy(encoder), "none", H, turn=lambda heads: 2 * heads)
    found = doubled(ids)[ids != 0]
    for layer in encoder.layers:  # twice the queries and twice the keys are four times the scores
        for parameter in layer.self_attention.w_q.parameters():
            parameter.data *= 4
    torch.testing.assert_close(found, encoder(ids)[ids != 0])


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


@pytest.fixture
def weights():
    """Weights of the right attention and of the broken ones, 4 queries, 6 keys, 2 of padding."""
    torch.manual_seed(1)
    return symptoms(torch.randn(4, 16), torch.randn(6, 16), torch.arange(6) < 4)


def test_only_two_softmaxes_give_all_padding_the_same_weight_above_zero(weights):
    padding = {name: shares[:, 4:] for name, shares in weights.items()}
    assert (padding.pop("A")[:, 0] > 0.1).all()
    assert torch.equal(weights["A"][:, 4], weights["A"][:, 5])
    assert all(not shares.any() for shares in padding.values())


def test_without_scaling_each_row_is_more_decided_than_the_right_one(weights):
    assert (weights["B"].amax(1) > weights["right"].amax(1) + 0.1).all()
    torch.testing.assert_close(weights["B"].sum(1), torch.ones(4))


def test_only_a_late_mask_makes_every_row_spend_too_little(weights):
    low = {name for name, shares in weights.items() if (shares.sum(1) < 0.95).all()}
    assert low == {"C"}


def test_the_split_to_repair_is_right_for_one_sentence_and_wrong_for_two():
    x = torch.arange(48.0).view(2, 4, 6)
    right = x.unflatten(2, (3, 2)).transpose(1, 2)
    assert torch.equal(broken_split_heads(x[:1], 3), right[:1])
    assert not torch.equal(broken_split_heads(x, 3), right)


@pytest.mark.parametrize(
    ("bugs", "advice"),
    [
        (["softmax twice"], "Keep the braces"),
        ({"A": "dropout", "B": "", "C": "x"}, "copy a name from the list"),
    ],
)
def test_an_answer_in_another_form_is_told_what_form_is_wanted(bugs, advice):
    verdict = check.predict_bug_of_symptom.verdict(bugs)
    assert not verdict.passed
    assert any(advice in str(result) for result in verdict.results)
