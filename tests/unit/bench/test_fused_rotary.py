"""Rotary positions by torch's fused attention are those of the formula."""

import pytest
import torch
import torch.nn.functional as F

from bench.fused_rotary import FusedRotaryAttention, make_rotary, turning_table
from utils.reference.modules import MultiHeadAttention, TransformerEncoder, rotary_embedding

B, T, D, H = 3, 7, 12, 3
BASE = 50.0


def rotary(dtype=torch.float32, dropout=0.0):
    torch.manual_seed(0)
    attention = MultiHeadAttention(D, H).to(dtype)
    turns = turning_table(rotary_embedding, BASE, 20, D // H).to(dtype)
    return FusedRotaryAttention(attention, H, turns, dropout)


def by_hand(attention, x, mask=None, key=None, value=None):
    """Turn queries and keys by lesson 04's function, and attend by the formula."""
    key, value = (x if other is None else other for other in (key, value))

    def heads(y):
        return torch.stack(y.split(D // H, -1), 1)  # (B, H, T, Dh)

    q = rotary_embedding(heads(attention.w_q(x)), BASE)
    k = rotary_embedding(heads(attention.w_k(key)), BASE)
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) / (D // H) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.unsqueeze(1), -1e9)
    weights = scores.softmax(-1)
    found = torch.einsum("bhts,bhsd->bthd", weights, heads(attention.w_v(value)))
    return attention.w_o(found.reshape(x.shape)), weights


def some_mask():
    return (torch.arange(T) < torch.tensor([7, 4, 2]).unsqueeze(1)).unsqueeze(1)  # (B, 1, T)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("mask", [None, some_mask()])
def test_it_is_attention_between_turned_queries_and_keys(dtype, mask):
    attention, x = rotary(dtype), torch.randn(B, T, D, dtype=dtype)
    wanted, _ = by_hand(attention, x, mask)
    output, none = attention(x, x, x, mask)
    assert none is None
    assert output.dtype == dtype
    torch.testing.assert_close(output, wanted)


def test_queries_keys_and_values_each_come_from_their_own_input():
    attention = rotary()
    x, key, value = torch.randn(3, B, T, D).unbind()
    wanted = by_hand(attention, x, some_mask(), key, value)[0]
    torch.testing.assert_close(attention(x, key, value, some_mask())[0], wanted)


def test_layers_without_bias_are_taken_as_they_are():
    attention, x = rotary(), torch.randn(B, T, D)
    for layer in (attention.w_q, attention.w_k, attention.w_v):
        layer.bias = None
    torch.testing.assert_close(attention(x, x, x)[0], by_hand(attention, x)[0])


def test_a_row_with_nothing_allowed_has_the_bias_as_output():
    attention, x = rotary(), torch.randn(2, T, D)
    mask = torch.ones(2, T, T, dtype=torch.bool)
    mask[1, 3] = False
    torch.testing.assert_close(attention(x, x, x, mask)[0][1, 3], attention.w_o.bias)


def test_only_distance_counts():
    attention, x = rotary(), torch.randn(1, 4, D)
    later = torch.cat([torch.randn(1, 3, D), x], 1)  # three words before, masked
    mask = (torch.arange(7) >= 3).expand(1, 1, 7)
    torch.testing.assert_close(
        attention(later, later, later, mask)[0][:, 3:], attention(x, x, x)[0]
    )
    turned_round = attention(x.flip(1), x.flip(1), x.flip(1))[0].flip(1)
    assert not torch.allclose(turned_round, attention(x, x, x)[0], atol=1e-3)


def test_a_sentence_longer_than_the_table_is_refused():
    attention, x = rotary(), torch.randn(1, 21, D)
    with pytest.raises(ValueError, match="21 words, but rotary positions for 20"):
        attention(x, x, x)


def test_dropout_acts_on_the_weights_in_training_only():
    attention, x = rotary(dropout=0.5), torch.randn(B, T, D)
    assert not torch.equal(attention(x, x, x)[0], attention(x, x, x)[0])
    attention.eval()
    torch.testing.assert_close(attention(x, x, x)[0], by_hand(attention, x)[0])


def test_autocast_to_bf16_gives_bf16_for_attention():
    attention, x = rotary(), torch.randn(B, T, D)
    with torch.autocast("cpu", torch.bfloat16):
        output = attention(x, x, x)[0]
    assert output.dtype == torch.bfloat16
    torch.testing.assert_close(output.float(), attention(x, x, x)[0], atol=0.05, rtol=0.05)


def encoder():
    torch.manual_seed(0)
    return TransformerEncoder(9, D, H, 2, 10, dropout=0.0, norm_first=True)


def test_a_rotary_encoder_keeps_every_parameter_and_sees_order_by_rotation_alone():
    plain = encoder()
    before = {id(parameter) for parameter in plain.parameters()}
    found = make_rotary(plain, H, rotary_embedding, BASE)
    assert found is plain
    assert {id(parameter) for parameter in found.parameters()} == before
    ids = torch.tensor([[2, 3, 4]])
    torch.testing.assert_close(found.embed(ids), found.embedding(ids))
    assert not torch.allclose(found(ids), found(ids.flip(1)).flip(1), atol=1e-3)


def test_padding_changes_nothing_in_a_rotary_encoder():
    found = make_rotary(encoder(), H, rotary_embedding, BASE)
    torch.testing.assert_close(
        found(torch.tensor([[2, 3, 4, 0, 0]]))[:, :3], found(torch.tensor([[2, 3, 4]]))
    )


@pytest.mark.parametrize("mixed", [False, True])
def test_the_fused_function_gets_turned_queries_in_the_precision_of_the_layers(monkeypatch, mixed):
    seen = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **k: seen.append(a[0]) or fused(*a, **k)
    )
    attention, x = rotary(), torch.randn(B, T, D)
    with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
        attention(x, x, x)
        q = torch.stack(attention.w_q(x).split(D // H, -1), 1)
    assert seen[0].dtype == q.dtype == (torch.bfloat16 if mixed else torch.float32)
    torch.testing.assert_close(seen[0].float(), rotary_embedding(q.float(), BASE).to(q).float())
