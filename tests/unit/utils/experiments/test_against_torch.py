"""An attention with torch's weights is the same as torch's; one that ignores padding is not."""

import pytest
import torch
from torch import nn

from utils.experiments.against_torch import against_torch
from utils.experiments.buggy import FaultyAttention
from utils.reference.modules import MultiHeadAttention


def pair(fault):
    torch.manual_seed(1)
    theirs, right = nn.MultiheadAttention(12, 3, batch_first=True), MultiHeadAttention(12, 3)
    with torch.no_grad():
        parts = theirs.in_proj_weight.chunk(3)
        for layer, weight in zip((right.w_q, right.w_k, right.w_v), parts, strict=True):
            layer.weight.copy_(weight)
            layer.bias.zero_()
        right.w_o.weight.copy_(theirs.out_proj.weight)
        right.w_o.bias.zero_()
    return FaultyAttention(right, 3, fault), theirs


def test_a_right_attention_gives_what_torch_gives():
    gaps = against_torch(*pair("none"), batch=4, length=6)
    assert gaps == pytest.approx({"output": 0, "weights": 0, "gradients": 0}, abs=1e-5)


def test_an_attention_that_ignores_padding_differs_in_everything():
    assert min(against_torch(*pair("mask"), batch=4, length=6).values()) > 1e-3
