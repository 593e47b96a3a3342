"""The oracles against plain loops, over random sizes and numbers."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from utils.checks.lessons.attention.answers.additive import additive_oracle
from utils.checks.lessons.attention.answers.first import attend_oracle
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.start_here.answers.means import mean_oracle
from utils.checks.lessons.start_here.answers.products import dot_oracle
from utils.checks.lessons.start_here.answers.softmax import softmax_oracle
from utils.reference.attention.torch_attention import reference_attention

SIZE = st.integers(1, 5)
KINDS = st.sampled_from(["none", "padding", "random", "empty", "keep-one"])


def softmax_by_hand(row, allowed):
    kept = [x for x, a in zip(row, allowed, strict=True) if a]
    top = max(kept, default=0.0)
    powers = [math.exp(x - top) if a else 0.0 for x, a in zip(row, allowed, strict=True)]
    return [p / (sum(powers) or 1.0) for p in powers]


def agree(tensor, nested):
    torch.testing.assert_close(tensor, torch.tensor(nested, dtype=tensor.dtype).view_as(tensor))


@given(SIZE, SIZE, SIZE, SIZE, SIZE, KINDS)
def test_attention_equals_loops(size, t, s, d_k, d_v, kind):
    draw = Draw("float64", 2.0, sizes=(size, t, s, d_k, d_v), kind=kind)
    q, k, v = draw.normal(size, t, d_k), draw.normal(size, s, d_k), draw.normal(size, s, d_v)
    mask = draw.mask(kind, size, t, s)
    allowed = torch.ones(size, t, s, dtype=torch.bool) if mask is None else mask
    output, weights = reference_attention(q, k, v, mask)
    by_hand = [
        [
            softmax_by_hand(
                [sum(a * b for a, b in zip(x, y, strict=True)) / math.sqrt(d_k) for y in kb],
                row.tolist(),
            )
            for x, row in zip(qb, ab, strict=True)
        ]
        for qb, kb, ab in zip(q.tolist(), k.tolist(), allowed, strict=True)
    ]
    agree(weights, by_hand)
    mixed = [
        [[sum(w * y[d] for w, y in zip(row, vb, strict=True)) for d in range(d_v)] for row in rows]
        for rows, vb in zip(by_hand, v.tolist(), strict=True)
    ]
    agree(output, mixed)


@given(SIZE, SIZE, SIZE, SIZE, SIZE)
def test_additive_scores_equal_loops(size, s, d_q, d_k, hidden):
    draw = Draw("float64", sizes=(size, s, d_q, d_k, hidden))
    query, keys = draw.normal(size, d_q), draw.normal(size, s, d_k)
    w_q, w_k, v = draw.normal(hidden, d_q), draw.normal(hidden, d_k), draw.normal(hidden)
    by_hand = [
        [
            sum(
                v[a].item()
                * math.tanh(
                    sum(w_q[a, i].item() * query[b, i].item() for i in range(d_q))
                    + sum(w_k[a, i].item() * keys[b, j, i].item() for i in range(d_k))
                )
                for a in range(hidden)
            )
            for j in range(s)
        ]
        for b in range(size)
    ]
    agree(additive_oracle(query, keys, w_q, w_k, v), by_hand)


@given(SIZE, SIZE, SIZE, st.sampled_from(["none", "padding", "random", "empty"]))
def test_attend_equals_loops(size, s, d, kind):
    draw = Draw("float64", sizes=(size, s, d), kind=kind)
    scores, values, mask = draw.normal(size, s), draw.normal(size, s, d), draw.mask(kind, size, s)
    allowed = torch.ones(size, s, dtype=torch.bool) if mask is None else mask
    rows = zip(scores.tolist(), allowed.tolist(), strict=True)
    weights = [softmax_by_hand(row, ok) for row, ok in rows]
    context, found = attend_oracle(scores, values, mask)
    agree(found, weights)
    agree(
        context,
        [
            [sum(w * y[i] for w, y in zip(row, vb, strict=True)) for i in range(d)]
            for row, vb in zip(weights, values.tolist(), strict=True)
        ],
    )


@given(SIZE, SIZE, st.booleans())
def test_softmax_equals_loops_also_where_entries_are_blocked(rows, columns, blocked):
    x = Draw("float64", 30.0, sizes=(rows, columns)).normal(rows, columns)
    if blocked:
        x[0] = -torch.inf
        x[:, ::2] = -torch.inf
    by_hand = [softmax_by_hand(row.tolist(), (row > -math.inf).tolist()) for row in x]
    agree(softmax_oracle(x, -1), by_hand)


@given(SIZE, SIZE, SIZE, st.sampled_from(["padding", "random", "empty"]))
def test_masked_mean_equals_loops(size, t, d, kind):
    draw = Draw("float64", sizes=(size, t, d), kind=kind)
    x, mask = draw.normal(size, t, d), draw.mask(kind, size, t)
    by_hand = []
    for sequence, keep in zip(x.tolist(), mask.tolist(), strict=True):
        kept = [v for v, k in zip(sequence, keep, strict=True) if k]
        by_hand.append([sum(v[i] for v in kept) / max(len(kept), 1) for i in range(d)])
    agree(mean_oracle(x, mask), by_hand)


@given(SIZE, SIZE, SIZE, SIZE)
def test_pairwise_dot_equals_loops(size, t, s, d):
    draw = Draw("float64", sizes=(size, t, s, d))
    a, b = draw.normal(size, t, d), draw.normal(size, s, d)
    by_hand = [
        [[sum(x * y for x, y in zip(u, w, strict=True)) for w in right] for u in left]
        for left, right in zip(a.tolist(), b.tolist(), strict=True)
    ]
    agree(dot_oracle(a, b), by_hand)


@given(SIZE, SIZE, SIZE, st.sampled_from(["padding", "random", "keep-one", "causal"]))
def test_masks_leave_every_row_something_but_the_empty_one(size, t, s, kind):
    mask = Draw(sizes=(size, t, s)).mask(kind, size, t, s)
    assert mask.shape == (size, t, s)
    assert mask.any(-1).all()
    empty = Draw(sizes=(size, t, s)).mask("empty", size, t, s)
    assert (~empty.any(-1)).sum() >= 1


def test_inputs_are_the_same_at_every_call_and_differ_between_cases():
    one, again, other = (Draw(B=n).normal(3, 4) for n in (2, 2, 5))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_an_unknown_mask_is_refused():
    with pytest.raises(ValueError, match="no mask is called"):
        Draw().mask("paddding", 2, 3)
