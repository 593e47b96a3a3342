"""Lesson 03's attention, with copied weights, is the function that nn.MultiheadAttention is."""

import itertools
from functools import cache

import pytest
import torch
from torch import nn

from tests.course.lesson_runs import all_lessons, names_of

SIZES = [
    # batch, queries, keys, d_model, heads
    (1, 1, 1, 7, 1),
    (3, 4, 5, 12, 2),
    (2, 9, 6, 24, 8),
    (5, 17, 33, 64, 4),
]
GRID = list(itertools.product(SIZES, (True, False), (True, False)))
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@cache
def solution() -> dict:
    """The names that lesson 03 defines, on the course's own earlier block."""
    return names_of(all_lessons()["03_multi_head_attention"])


def both_attentions(d_model, n_heads, bias):
    torch.manual_seed(d_model)
    theirs = nn.MultiheadAttention(d_model, n_heads, bias=bias, batch_first=True)
    for parameter in theirs.parameters():  # torch's biases start at zero
        nn.init.normal_(parameter, std=d_model**-0.5)
    ours = solution()["MultiHeadAttention"](d_model, n_heads, bias=bias)
    solution()["load_torch_attention"](ours, theirs)
    return ours, theirs


def question(sizes):
    size, queries, keys, d_model, _ = sizes
    generator = torch.Generator().manual_seed(keys)
    lengths = torch.randint(1, keys + 1, (size, 1), generator=generator)
    vectors = [torch.randn(size, n, d_model, generator=generator) for n in (queries, keys, keys)]
    return vectors, torch.arange(keys) < lengths


def in_torch_layout(ours, bias):
    """Gradients of our parameters by torch's names, q, k and v stacked."""
    stacked, found = (ours.w_q, ours.w_k, ours.w_v), {}
    for kind in ("weight", "bias") if bias else ("weight",):
        found[f"in_proj_{kind}"] = torch.cat([getattr(part, kind).grad for part in stacked])
        found[f"out_proj.{kind}"] = getattr(ours.w_o, kind).grad
    return found


@pytest.mark.parametrize(("sizes", "bias", "padded"), GRID)
def test_output_weights_and_gradients_are_torchs(sizes, bias, padded):
    ours, theirs = both_attentions(*sizes[-2:], bias)
    vectors, real = question(sizes)
    mine, others = ([x.clone().requires_grad_() for x in vectors] for _ in range(2))
    got = ours(*mine, mask=real.unsqueeze(1) if padded else None)
    # torch's mask is the other way round: True where a key is padding.
    padding = ~real if padded else None
    wanted = theirs(*others, key_padding_mask=padding, average_attn_weights=False)
    torch.testing.assert_close(got, wanted, **CLOSE)
    factors = torch.randn(wanted[0].shape, generator=torch.Generator().manual_seed(1))
    for output, _ in (got, wanted):
        ((output * factors).sum() / len(output)).backward()
    torch.testing.assert_close([x.grad for x in mine], [x.grad for x in others], **CLOSE)
    found = in_torch_layout(ours, bias)
    assert set(found) == {name for name, _ in theirs.named_parameters()}
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, **CLOSE)


@pytest.mark.parametrize("sizes", SIZES[1:])
def test_a_causal_mask_gives_what_torchs_does(sizes):
    ours, theirs = both_attentions(*sizes[-2:], bias=True)
    x = question(sizes)[0][0]
    allowed = torch.ones(1, x.shape[1], x.shape[1], dtype=torch.bool).tril()
    wanted = theirs(x, x, x, attn_mask=~allowed[0], average_attn_weights=False)
    torch.testing.assert_close(ours(x, x, x, allowed), wanted, **CLOSE)


def test_a_sentence_alone_gives_what_it_gives_in_a_padded_batch():
    ours, _ = both_attentions(12, 3, bias=True)
    lengths = (9, 4, 1, 6)
    x = torch.randn(4, 9, 12)
    together = ours(x, x, x, torch.arange(9) < torch.tensor(lengths)[:, None, None])[0]
    for row, length, output in zip(x, lengths, together, strict=True):
        alone = row[None, :length]
        torch.testing.assert_close(ours(alone, alone, alone)[0][0], output[:length], **CLOSE)


def test_a_row_with_nothing_allowed_gives_the_output_layers_bias():
    ours, _ = both_attentions(12, 3, bias=True)
    x = torch.randn(2, 5, 12)
    mask = torch.ones(2, 5, 5, dtype=torch.bool)
    mask[1, 2] = False
    output, weights = ours(x, x, x, mask)
    torch.testing.assert_close(output[1, 2], ours.w_o.bias)
    assert not weights[1, :, 2].any()


def test_an_indivisible_size_is_refused_by_an_error_that_names_both_numbers():
    with pytest.raises(ValueError, match=r"(?s)10.*4|4.*10"):
        solution()["MultiHeadAttention"](10, 4)


def test_torchs_weights_stay_as_they_are_when_ours_are_trained():
    ours, theirs = both_attentions(12, 3, bias=True)
    before = [p.detach().clone() for p in theirs.parameters()]
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.add_(1.0)
    assert all(torch.equal(a, b) for a, b in zip(before, theirs.parameters(), strict=True))
