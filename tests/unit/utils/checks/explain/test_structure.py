"""What is said of the rows and the diagonal of a wrong result: it must be true."""

import numpy as np
import pytest
import torch
from torch import nn

from utils.checks import check
from utils.checks.explain.seen.structure import of_diagonals, of_structure
from utils.reference.tagging import reference_collate

TOLERANCE = 1e-5


def told(right, got, name="output"):
    return list(of_structure(name, np.asarray(right), np.asarray(got), TOLERANCE))


def beside(right, got, name="output"):
    return list(of_diagonals(name, np.asarray(right), np.asarray(got), TOLERANCE))


def drawn(*sizes):
    return np.random.default_rng(len(sizes)).normal(size=sizes) + 2.0


def test_rows_with_factors_of_their_own_are_told_with_the_smallest_and_the_largest():
    right = drawn(2, 4, 5)
    factors = np.linspace(0.5, 3, 8).reshape(2, 4, 1)
    assert told(right, factors * right) == [
        "Each row of output is right up to a factor of its own, from 0.5 to 3: look at what a row "
        "is divided by."
    ]


def test_columns_with_factors_of_their_own_are_told():
    right = drawn(4, 5)
    (sentence,) = told(right, np.linspace(-1, 2, 5) * right + 0)
    assert sentence.startswith("Each column of output is right up to a factor of its own, from -1")


def test_rows_that_are_moved_too_are_told():
    right = drawn(3, 4)
    (sentence,) = told(right, right * [[2], [3], [4]] + [[1], [0], [-1]])
    assert "a factor and a number added, each row's own" in sentence


def test_one_factor_for_all_is_left_to_the_sentence_on_factors():
    right = drawn(3, 4)
    assert told(right, 2 * right) == []


@pytest.mark.parametrize(
    ("right", "got"),
    [
        (drawn(3, 1), drawn(3, 1) ** 2),
        (drawn(2, 2), drawn(2, 2) ** 2),
        (drawn(4, 4), drawn(4, 4).T + 1),
        (drawn(4, 5), drawn(5, 4).T),
        (drawn(4, 5), np.zeros((4, 5))),
        (drawn(3, 4), np.full((3, 4), np.inf)),
        (np.zeros((3, 4)), drawn(3, 4)),
        (np.zeros((3, 4)), np.zeros((3, 4))),
    ],
    ids=["one", "two", "a square", "no likeness", "zeros", "infinite", "zeros wanted", "the same"],
)
def test_what_only_looks_alike_is_told_nothing(right, got):
    assert told(right, got) == []


def test_a_result_right_on_its_diagonal_alone_and_one_wrong_there_alone_are_told_apart():
    right = drawn(4, 4)
    assert beside(right, right + 1 - np.eye(4)) == [
        "output is right on its diagonal, but wrong beside it."
    ]
    assert beside(right, right + np.diag([1.0, 2, 4, 3])) == [
        "output is wrong on its diagonal, but right everywhere else."
    ]


def test_weights_under_a_causal_mask_that_nobody_asked_for_are_told():
    def causal(q, k, v, mask=None):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        scores = scores + torch.full(scores.shape[-2:], -torch.inf).triu(1)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1).nan_to_num()
        return weights @ v, weights

    scores = torch.from_numpy(drawn(2, 4, 4))
    got = (scores + torch.full((4, 4), -torch.inf).triu(1)).softmax(-1)
    (said,) = beside(scores.softmax(-1), got, "weights")
    assert said.startswith("weights is zero wherever its last index is larger than the one before")
    assert beside(scores.softmax(-1), (scores * scores).softmax(-1), "weights") == []
    verdict = check.scaled_dot_product_attention.verdict(causal)
    assert verdict.mistake is not None or "zero wherever" in " ".join(verdict.symptoms)


def test_a_result_that_only_a_demand_finds_wrong_is_not_called_right_in_every_case():
    def collate(batch):  # the last tag of all is lost, and an empty sentence counts as one word
        ids, lengths, tags = reference_collate(batch)
        return ids, lengths.clamp(min=1), tags.clamp(max=7)

    symptoms = check.collate.verdict(collate).symptoms
    assert "ids is right in every case, but tags is not." in symptoms


def test_results_that_are_right_are_named_and_facts_beside_them_are_not():
    def fuse_heads(heads):
        w_q, w_k, w_v = (torch.cat([head[n] for head in heads]) for n in range(3))
        return w_q, w_k, w_v.sin()

    symptoms = check.fuse_heads.verdict(fuse_heads).symptoms
    assert "w_q and w_k are right in every case, but w_v is not." in symptoms

    class LayerNorm(nn.Module):
        def __init__(self, d_model, eps=1e-5):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))

        def forward(self, x):
            return self.weight * x.atan() + self.bias

    verdict = check.LayerNorm.verdict(LayerNorm)
    assert verdict.mistake is None
    assert not any("at first" in says for says in verdict.symptoms)
