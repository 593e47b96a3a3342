"""The benchmark of training compares encoders that compute the same, and counts rightly."""

import json
from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from bench import speed_timing, train_speed
from bench.lesson_code import solution
from bench.speed_models import FUSED, SOLUTION, TORCH, Size, batch_of, build
from bench.train_speed import forward_backward, waste

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


def test_waste_is_the_share_of_padding():
    assert waste([1, 4, 3, 2], [[0, 1], [3, 2]]) == pytest.approx(1 - 10 / 14)


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


def test_parts_that_are_not_measured_keep_their_results(tmp_path, monkeypatch):
    (tmp_path / "train_speed.json").write_text(json.dumps({"results": {"cpu": {"old": 1}}}))
    monkeypatch.setattr(train_speed, "RESULTS", tmp_path)
    monkeypatch.setattr(train_speed, "PARTS", dict.fromkeys(train_speed.PARTS, lambda: {"new": 2}))
    found = train_speed.measure(["padding"])
    assert found["cpu"] == {"old": 1}
    assert found["padding"]["new"] == 2
    assert torch.__version__.startswith(found["padding"]["torch"])  # a wheel may add "+cu130"
    assert train_speed.measure()["cpu"]["new"] == 2


def test_a_part_that_there_is_not_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(train_speed, "RESULTS", tmp_path)
    with pytest.raises(SystemExit, match="no part is called speed; there are padding, cpu"):
        train_speed.measure(["speed"])
