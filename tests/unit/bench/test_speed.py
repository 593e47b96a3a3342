"""Encoders whose speed is compared compute the same, and their work is counted rightly."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from bench.lesson_code import solution
from bench.speed import timing as speed_timing
from bench.speed.models import FUSED, SOLUTION, TORCH, Size, batch_of, build
from bench.speed.tasks import forward_backward

SMALL = Size(24, 4, 2, 20, batch=3, length=7)
CPU = torch.device("cpu")


@pytest.mark.parametrize("padded", [False, True])
def test_all_that_is_compared_computes_the_same(padded):
    theirs, plain, fused = (build(name, SMALL, CPU).eval() for name in (TORCH, SOLUTION, FUSED))
    solution(("load_torch_encoder",))["load_torch_encoder"](plain.encoder, theirs.layers)
    plain.encoder.embedding.load_state_dict(theirs.encoder.embedding.state_dict())
    plain.output.load_state_dict(theirs.output.state_dict())
    fused.load_state_dict(plain.state_dict())
    ids, tags, *masks = batch_of(SMALL, CPU, padded=padded)
    mask = masks[0] if padded else None
    real = tags != -100
    assert real.all() == (not padded)
    expected = theirs(ids, mask)[real]
    assert torch.allclose(plain(ids, mask)[real], expected, atol=1e-5)
    assert torch.allclose(fused(ids, mask)[real], expected, atol=1e-5)


def test_the_formula_counts_what_torch_counts():
    size = replace(SMALL, d_model=96, d_ff=160, length=60)
    counter = FlopCounterMode(display=False)
    run = forward_backward(build(FUSED, size, CPU), batch_of(size, CPU, padded=False))
    with counter:
        run()
    counted = counter.get_total_flops()
    formula = speed_timing.training_flops(size, [size.length] * size.batch)
    assert formula == pytest.approx(counted, rel=0.02)  # biases too


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("NVIDIA H200", 989.4),
        ("NVIDIA H200 NVL", 835.5),
        ("NVIDIA A100-SXM4-80GB", 311.9),
        ("NVIDIA L40S", 362.0),
        ("NVIDIA RTX A4000", None),
    ],
)
def test_the_stated_peak_is_the_devices_own(monkeypatch, name, peak):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: name)
    assert speed_timing.stated_peak() == peak
