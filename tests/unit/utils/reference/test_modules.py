"""The stand-ins do what their exercises ask, and agree with torch's own modules."""

import pytest
import torch
from torch import nn

from utils.checks.judge import judge
from utils.checks.observe.observe import observe
from utils.checks.registry import exercises
from utils.reference import modules

WITH_EXERCISE = [name for name in modules.__all__ if name in exercises()]


@pytest.mark.parametrize("name", WITH_EXERCISE)
def test_a_stand_in_passes_the_check_of_its_exercise(name):
    exercise = exercises()[name]
    cases = exercise.probe.cases
    seen = [observe(exercise.probe, c, getattr(modules, name), trusted=True) for c in cases]
    assert judge(exercise, cases, seen).passed


def copied(ours: modules.MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    parts = (ours.w_q, ours.w_k, ours.w_v)
    weights = {
        "in_proj_weight": torch.cat([p.weight for p in parts]),
        "in_proj_bias": torch.cat([p.bias for p in parts]),
        "out_proj.weight": ours.w_o.weight,
        "out_proj.bias": ours.w_o.bias,
    }
    theirs.load_state_dict(weights)


@pytest.mark.parametrize(("size", "queries", "keys", "heads"), [(1, 1, 1, 1), (3, 5, 4, 2)])
def test_attention_agrees_with_torchs_module(size, queries, keys, heads):
    torch.manual_seed(0)
    ours = modules.MultiHeadAttention(12, heads)
    theirs = nn.MultiheadAttention(12, heads, batch_first=True)
    copied(ours, theirs)
    q, k, v = torch.randn(size, queries, 12), *torch.randn(2, size, keys, 12)
    mask = torch.rand(size, queries, keys) < 0.5
    mask[..., 0] = True
    blocked = (~mask).repeat_interleave(heads, 0)
    wanted = theirs(q, k, v, attn_mask=blocked, average_attn_weights=False)
    for one, other in zip(ours(q, k, v, mask), wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_a_row_with_nothing_allowed_gives_zero_weights_and_the_bias_of_w_o():
    attention = modules.MultiHeadAttention(6, 3)
    x = torch.randn(2, 4, 6, requires_grad=True)
    mask = torch.ones(2, 4, 4, dtype=torch.bool)
    mask[1, 2] = False
    output, weights = attention(x, x, x, mask)
    assert not weights[1, :, 2].any()
    torch.testing.assert_close(output[1, 2], attention.w_o.bias)
    assert torch.autograd.grad(output.sum(), x)[0].isfinite().all()


def test_weights_come_back_before_dropout():
    attention = modules.MultiHeadAttention(6, 2, dropout=0.5).train()
    x = torch.randn(2, 5, 6)
    torch.testing.assert_close(attention(x, x, x)[1].sum(-1), torch.ones(2, 2, 5))
    assert not torch.equal(attention(x, x, x)[0], attention(x, x, x)[0])


def test_widths_that_no_heads_divide_are_named():
    with pytest.raises(ValueError, match=r"10.*4"):
        modules.MultiHeadAttention(10, 4)


def test_sinusoids_are_sine_and_cosine_at_falling_rates():
    encoding = modules.sinusoidal_encoding(50, 6)
    position = torch.arange(50.0)
    for pair, rate in enumerate((1.0, 10000 ** (-1 / 3), 10000 ** (-2 / 3))):
        torch.testing.assert_close(encoding[:, 2 * pair], (position * rate).sin())
        torch.testing.assert_close(encoding[:, 2 * pair + 1], (position * rate).cos())


def test_rotary_scores_depend_on_distance_alone():
    q, k = torch.randn(2, 8, dtype=torch.float64)
    turned = [modules.rotary_embedding(x.expand(1, 1, 9, 8)) for x in (q, k)]
    scores = (turned[0] @ turned[1].mT)[0, 0]
    for offset in range(-8, 9):
        diagonal = scores.diagonal(offset)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert len(set(scores[0].tolist())) == 9


@pytest.mark.parametrize("make", [modules.PositionalEncoding, modules.LearnedPositionalEncoding])
def test_a_sequence_past_max_len_is_refused(make):
    positions = make(6, 4)
    assert positions(torch.zeros(2, 4, 6)).shape == (2, 4, 6)
    with pytest.raises(ValueError, match=r"5 tokens.*4"):
        positions(torch.zeros(2, 5, 6))


def test_only_learned_positions_are_trained():
    assert not list(modules.PositionalEncoding(6, 4).parameters())
    assert [p.shape for p in modules.LearnedPositionalEncoding(6, 4).parameters()] == [(4, 6)]


def test_the_padding_row_is_zero_and_stays_so():
    embedding = modules.TokenEmbedding(7, 4, padding_idx=2)
    output = embedding(torch.tensor([[2, 3]]))
    output.square().sum().backward()
    assert not output[0, 0].any()
    assert not embedding.weight.grad[2].any()
    torch.testing.assert_close(output[0, 1], 2 * embedding.weight[3])


def test_the_encoder_stand_in_masks_padding():
    torch.manual_seed(0)
    encoder = modules.TransformerEncoder(9, 6, 3, 2, 10, 12).eval()
    alone, together = encoder(torch.tensor([[3, 5]])), encoder(torch.tensor([[3, 5, 0], [4, 8, 1]]))
    torch.testing.assert_close(alone[0], together[0, :2])
