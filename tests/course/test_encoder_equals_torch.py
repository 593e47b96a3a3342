"""Lesson 05's encoder, with copied weights, is the function that nn.TransformerEncoder is."""

import itertools
from functools import cache

import pytest
import torch
from torch import nn

from tests.course.lesson_runs import all_lessons, names_of

SIZES = [
    # batch, length, d_model, heads, d_ff, layers
    (1, 1, 8, 1, 5, 1),
    (3, 7, 12, 3, 20, 2),
    (2, 17, 32, 8, 64, 3),
    (5, 33, 64, 4, 128, 6),
]
GRID = list(itertools.product(SIZES, (False, True), (False, True)))
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@cache
def solution() -> dict:
    """The names that lesson 05 defines, on the course's own earlier blocks."""
    return names_of(all_lessons()["05_encoder"])


def both_encoders(sizes, norm_first):
    _, _, d_model, n_heads, d_ff, n_layers = sizes
    torch.manual_seed(d_model)
    layer = nn.TransformerEncoderLayer(
        d_model, n_heads, d_ff, 0.0, batch_first=True, norm_first=norm_first
    )
    norm = nn.LayerNorm(d_model) if norm_first else None
    theirs = nn.TransformerEncoder(layer, n_layers, norm, enable_nested_tensor=False)
    for parameter in theirs.parameters():  # torch's layers start equal, its biases at zero
        nn.init.normal_(parameter, std=0.2)
    ours = solution()["TransformerEncoder"](
        9, d_model, n_heads, n_layers, d_ff, 50, dropout=0.0, norm_first=norm_first
    )
    solution()["load_torch_encoder"](ours, theirs)
    return ours, theirs


def question(sizes, padded):
    size, length = sizes[:2]
    generator = torch.Generator().manual_seed(length)
    lengths = torch.randint(1, length + 1, (size, 1), generator=generator)
    lengths[0] = length
    real = torch.arange(length) < (lengths if padded else length)
    return torch.randn(size, length, sizes[2], generator=generator), real.expand(size, length)


def in_torch_layout(encoder):
    """Gradients of our parameters by torch's names, q, k and v stacked."""
    found = {}
    for n, layer in enumerate(encoder.layers):
        attention = layer.self_attention
        pairs = [(f"layers.{n}.self_attn.out_proj", attention.w_o)]
        pairs += [
            (f"layers.{n}.linear{i}", getattr(layer.feed_forward, f"linear_{i}")) for i in (1, 2)
        ]
        pairs += [(f"layers.{n}.norm{i}", getattr(layer, f"norm_{i}")) for i in (1, 2)]
        for name, part in pairs:
            found |= {f"{name}.weight": part.weight.grad, f"{name}.bias": part.bias.grad}
        stacked = [attention.w_q, attention.w_k, attention.w_v]
        inside = f"layers.{n}.self_attn.in_proj"
        found[f"{inside}_weight"] = torch.cat([part.weight.grad for part in stacked])
        found[f"{inside}_bias"] = torch.cat([part.bias.grad for part in stacked])
    final = {f"norm.{name}": p.grad for name, p in encoder.final_norm.named_parameters()}
    return found | final


@pytest.mark.parametrize(("sizes", "norm_first", "padded"), GRID)
def test_output_and_gradients_are_torchs(sizes, norm_first, padded):
    ours, theirs = both_encoders(sizes, norm_first)
    x, real = question(sizes, padded)
    inputs = [x.clone().requires_grad_() for _ in range(2)]
    mask = real.unsqueeze(1) if padded else None
    outputs = [
        ours.encode(inputs[0], mask),
        theirs(inputs[1], src_key_padding_mask=~real if padded else None),
    ]
    torch.testing.assert_close(outputs[0][real], outputs[1][real], **CLOSE)
    weights = torch.randn(outputs[0][real].shape) / real.sum()
    for output in outputs:
        (output[real] * weights).sum().backward()
    torch.testing.assert_close(inputs[0].grad, inputs[1].grad, **CLOSE)
    found = in_torch_layout(ours)
    assert set(found) == {name for name, _ in theirs.named_parameters()}
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, **CLOSE)


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_sentence_alone_gives_what_it_gives_in_a_padded_batch(norm_first):
    torch.manual_seed(0)
    encoder = solution()["TransformerEncoder"](30, 12, 3, 3, 20, 50, norm_first=norm_first).eval()
    lengths = (9, 4, 1, 6)
    batch = torch.zeros(4, 9, dtype=torch.long)
    for row, length in zip(batch, lengths, strict=True):
        row[:length] = torch.randint(1, 30, (length,))
    together = encoder(batch)
    for row, length, output in zip(batch, lengths, together, strict=True):
        torch.testing.assert_close(encoder(row[None, :length])[0], output[:length], **CLOSE)


def test_the_base_encoder_has_the_counted_parameters():
    counts = solution()["count_parameters"](solution()["TransformerEncoder"](10_000))
    assert counts == {
        "embedding": 5_120_000,
        "attention": 6_303_744,
        "feed_forward": 12_598_272,
        "layer_norm": 12_288,
        "total": 24_034_304,
    }
