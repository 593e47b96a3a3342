"""The oracles of lesson 03 entry by entry, and what its dropout case can tell apart."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from utils.checks.inputs import Draw
from utils.checks.multi_head_attention.answers_split import fuse_oracle
from utils.checks.multi_head_attention.reference import reference_merge, reference_split
from utils.checks.multi_head_attention.variants import heads_variant
from utils.checks.observe import observe
from utils.checks.registry import exercises

SIZE = st.integers(1, 5)
NAMES = (
    "share of weights dropped in train mode",
    "factor on the weights kept",
    "a dropped weight takes its whole value along",
)


@given(SIZE, SIZE, SIZE, SIZE)
def test_a_head_holds_its_slice_of_every_token(size, length, n_heads, d_head):
    x = Draw(sizes=(size, length, n_heads, d_head)).normal(size, length, n_heads * d_head)
    heads = reference_split(x, n_heads)
    for b in range(size):
        for t in range(length):
            row = [entry for h in range(n_heads) for entry in heads[b, h, t].tolist()]
            assert row == x[b, t].tolist()
    assert torch.equal(reference_merge(heads), x)


@given(SIZE, SIZE)
def test_fused_matrices_give_every_head_its_own_projection(n_heads, d_head):
    draw = Draw("float64", sizes=(n_heads, d_head))
    width = n_heads * d_head
    heads = [tuple(draw.normal(d_head, width) for _ in range(3)) for _ in range(n_heads)]
    x = draw.normal(1, 2, width)
    for kind, fused in enumerate(fuse_oracle(heads)):
        cut = reference_split(x @ fused.T, n_heads)
        for h in range(n_heads):
            torch.testing.assert_close(cut[:, h], x @ heads[h][kind].T)


@pytest.mark.parametrize(
    ("dropped", "seen"),
    [
        ("weights", [0.5, 2.0, True]),
        ("nothing", [0.0, 1.0, True]),
        ("unscaled", [0.5, 1.0, True]),
        ("context", [0.5, 2.0, False]),
    ],
)
def test_the_dropout_case_shows_what_was_dropped(dropped, seen):
    probe = exercises()["MultiHeadAttention"].probe
    case = next(case for case in probe.cases if case.name == "dropout")
    values = observe(probe, case, heads_variant(dropped=dropped)).values
    assert [values[name] for name in NAMES] == seen


def test_padding_cases_hold_a_last_sentence_that_is_shorter_than_the_batch():
    probe = exercises()["MultiHeadAttention"].probe
    for params in ({"B": 3, "T": 5, "H": 2, "Dh": 4}, {"B": 4, "T": 7, "H": 3, "Dh": 2}):
        mask = probe.inputs(mask="padding", **params)["mask"]
        assert 0 < mask[-1].sum() < params["T"]
