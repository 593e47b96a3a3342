"""The measurements for a GPU run at toy sizes, and what goes wrong in one stops no other."""

import gc
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from bench import __main__ as command
from bench.gpu import fine_tuning
from bench.gpu import lstm as gpu_lstm
from bench.gpu import run as gpu
from bench.gpu import speed as gpu_speed
from bench.gpu.lesson import Float32
from bench.gpu.padding import waste
from bench.gpu.record import OUT_OF_TIME, Place, is_known, measured
from bench.lesson_code import solution
from bench.speed import attention as speed_attention
from bench.speed.models import CUDNN, FLASH, FUSED, PACKED, TORCH, Size, batch_of, build
from utils.pretrained import weights

ROOT = Path(__file__).resolve().parents[3]
CPU = torch.device("cpu")
TOY = Place(CPU, toy=True)
SMALL = Size(24, 4, 2, 20, batch=3, length=7)
ABSENT = ("IPython", "grader", "jupytext", "matplotlib", "nbclient", "nbformat", "nbgrader", "tqdm")
# Each measurement collects garbage first. What is loaded already need not be looked through.
ON_A_BARE_MACHINE = """
import gc, sys
sys.modules.update(dict.fromkeys({absent}))
import torch._dynamo
gc.freeze()
from bench.__main__ import main
main(["gpu", "--toy", "--out", {out!r}])
"""


@pytest.fixture(scope="module", autouse=True)
def _little_to_look_through():
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """The file after a toy run of everything, where only torch is installed."""
    out = tmp_path_factory.mktemp("gpu") / "toy.json"
    script = ON_A_BARE_MACHINE.format(absent=ABSENT, out=str(out))
    env = os.environ | {"COURSE_DATA": "made-up", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text(encoding="utf-8"))["results"]


def test_a_toy_run_measures_all_that_a_cpu_can(toy):
    assert toy.keys() == gpu.PARTS.keys()
    assert [part for part, found in toy.items() if "failed" in found] == []
    missing = {
        name: value
        for part in toy.values()
        for name, value in part["figures"].items()
        if not is_known(value)
    }
    lacking = ["(cuDNN)", "(flash)", "compiled", PACKED, "three ways of making batches"]
    if missing.get("500 tokens, bf16") == "skipped: no LSTM in bf16 on this processor":
        lacking.append("500 tokens, bf16")
    assert [name for name in missing if not any(some in name for some in lacking)] == []


def test_an_lstm_that_the_processor_has_not_in_bf16_is_skipped_and_said(monkeypatch):
    def absent(_self, _x):
        raise RuntimeError("could not create a primitive descriptor")

    monkeypatch.setattr(nn.LSTM, "forward", absent)
    found = measured(partial(gpu_lstm.claim, TOY, bf16=True), time.monotonic() + 60)
    assert found == "skipped: no LSTM in bf16 on this processor"


def test_the_lesson_has_its_whole_scoreboard(toy):
    figures = toy["lesson"]["figures"]
    assert figures["setting"]["settings"]["d_model"] == 16  # tiny, as asked for
    assert figures["dictionaries"].keys() == {"most frequent tag", "with endings"}
    names = [name.removesuffix(", float32") for name in figures if name.endswith(", float32")]
    assert len(names) == 6
    for name in names:
        assert figures[name]["test"].keys() == {"overall", "ambiguous", "unknown"}
        assert figures[name]["words per second"] > 0
        # On a CPU the lesson trains in float32 too.
        assert set(figures[f"{name}, float32"]["loss of the contest's run minus this"]) == {0.0}
    # These two look at what a trained network has right, and this one is hardly trained.
    failed = figures["the rest of the lesson"].get("cells that failed", {})
    assert all(cell.startswith(("places, shares", "best = ")) for cell in failed)
    assert figures["whole lesson, seconds"] > 0


def test_a_cut_model_gives_the_whole_ones_vectors(tmp_path, monkeypatch):
    whole = replace(weights._tiny("a test"), is_real=True)
    words = ["the", "apple", "and", "ab"]
    monkeypatch.setattr(fine_tuning, "published", lambda: whole)
    monkeypatch.setattr(fine_tuning, "english", lambda _split: [[(word, "X") for word in words]])
    fine_tuning.cut(tmp_path)
    monkeypatch.setenv("COURSE_CUT", str(tmp_path))
    lesson = solution(fine_tuning.NAMES)
    vectors = []
    for content, vocab, n_heads in (
        (whole.content, whole.vocab, whole.n_heads),
        fine_tuning.files(Place(CPU)),
    ):
        bert = fine_tuning.loaded(lesson, lesson["read_safetensors"](content), n_heads).eval()
        ids, _ = fine_tuning.encoded(lesson, vocab, words)
        vectors.append(bert(torch.tensor([ids])))
    assert len(vocab) < len(whole.vocab)
    torch.testing.assert_close(*vectors, rtol=0, atol=0.02)  # one of them from float16


def test_speeds_stand_beside_torchs(toy):
    row = toy["training"]["figures"]["bf16: solution"]
    assert row.keys() == {"solution", TORCH}
    assert row["solution"].keys() >= {"words per second", "share of measured peak"}
    lstm = toy["lstm"]["figures"]["500 tokens, float32"]
    assert sum("LSTM" in name for name in lstm) == 2
    assert all(found["machine"]["toy"] for found in toy.values())


def part_of(figures, seconds=60.0):
    return gpu.Part(lambda _place, _known: iter(figures.items()), seconds)


def raises(error):
    def figure():
        raise error

    return figure


def figures_of(found, part):
    return found[part]["figures"]


def test_what_fails_is_recorded_and_the_rest_goes_on(tmp_path, monkeypatch):
    full = raises(torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate"))
    broken = gpu.Part(lambda _place, _known: raises(ValueError("no treebank"))(), 60.0)
    parts = {"one": part_of({"full": full, "fine": lambda: 2}), "two": broken}
    monkeypatch.setattr(gpu, "PARTS", parts | {"three": part_of({"last": lambda: 3})})
    found = gpu.measure((), TOY, tmp_path / "gpu.json")
    failed = {"failed": "OutOfMemoryError: CUDA out of memory."}
    assert figures_of(found, "one") == {"full": failed, "fine": 2}
    assert found["two"]["failed"] == "ValueError: no treebank"
    assert figures_of(found, "three") == {"last": 3}


def test_each_figure_is_saved_before_the_next_one(tmp_path, monkeypatch):
    out = tmp_path / "gpu.json"
    seen = {"first": lambda: 1, "second": lambda: json.loads(out.read_text())["results"]}
    monkeypatch.setattr(gpu, "PARTS", {"one": part_of(seen)})
    found = gpu.measure((), TOY, out)
    assert figures_of(found["one"]["figures"]["second"], "one") == {"first": 1}
    assert list(tmp_path.iterdir()) == [out]


def test_the_next_call_keeps_what_is_known_and_measures_the_rest(tmp_path, monkeypatch):
    out, first = tmp_path / "gpu.json", {"known": lambda: 1, "failed": raises(OSError("once"))}
    monkeypatch.setattr(gpu, "PARTS", {"one": part_of(first), "two": part_of({"other": lambda: 2})})
    gpu.measure((), TOY, out)
    second = {"known": raises(AssertionError("again")), "failed": lambda: 5}
    monkeypatch.setattr(gpu, "PARTS", {"one": part_of(second)})
    gpu.measure((), TOY, out)
    found = json.loads(out.read_text())["results"]
    assert figures_of(found, "one") == {"known": 1, "failed": 5}
    assert figures_of(found, "two") == {"other": 2}


def test_a_complete_part_is_not_begun_again(tmp_path, monkeypatch):
    out = tmp_path / "gpu.json"
    monkeypatch.setattr(gpu, "PARTS", {"one": part_of({"a": lambda: 1})})
    gpu.measure((), TOY, out)
    unready = gpu.Part(lambda _place, _known: raises(AssertionError("loads data"))(), 60.0)
    monkeypatch.setattr(gpu, "PARTS", {"one": unready})
    assert "failed" not in gpu.measure((), TOY, out)["one"]


def test_another_machine_measures_anew(tmp_path, monkeypatch):
    out = tmp_path / "gpu.json"
    monkeypatch.setattr(gpu, "PARTS", {"one": part_of({"a": lambda: 1, "b": lambda: 2})})
    gpu.measure((), TOY, out)
    monkeypatch.setattr(gpu, "here", lambda _place: {"GPU": "another one"})
    monkeypatch.setattr(gpu, "PARTS", {"one": part_of({"a": lambda: 3})})
    assert figures_of(gpu.measure((), TOY, out), "one") == {"a": 3}


def test_figures_that_a_part_has_no_time_for_are_said_to_be_skipped(tmp_path, monkeypatch):
    slow = {"quick": lambda: 1, "slow": lambda: time.sleep(60), "after": lambda: 2}
    parts = {"one": part_of(slow, seconds=1.0), "two": part_of({"other": lambda: 3})}
    monkeypatch.setattr(gpu, "PARTS", parts)
    found = gpu.measure((), TOY, tmp_path / "gpu.json")
    assert figures_of(found, "one") == {"quick": 1, "slow": OUT_OF_TIME, "after": OUT_OF_TIME}
    assert figures_of(found, "two") == {"other": 3}


def test_a_call_has_no_more_time_than_it_is_given(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu, "PARTS", {"one": part_of({"a": lambda: 1})})
    found = gpu.measure((), TOY, tmp_path / "gpu.json", seconds=0.0)
    assert figures_of(found, "one") == {"a": OUT_OF_TIME}
    assert "complete" not in found["one"]


def test_a_part_that_there_is_not_is_named(capsys):
    with pytest.raises(SystemExit):
        gpu.options(["lesson", "speed"])
    assert "no part is called speed" in capsys.readouterr().err


def plain_varlen(q, k, v, starts, _starts, longest, _longest):
    """What `varlen_attn` computes, sentence by sentence."""
    assert starts.dtype == torch.int32
    assert longest == int(starts.diff().max())
    ends = starts.tolist()
    rows = [slice(*pair) for pair in pairwise(ends)]
    whole = [[x[row].transpose(0, 1) for x in (q, k, v)] for row in rows]  # each (H, T, Dh)
    return torch.cat([F.scaled_dot_product_attention(*x).transpose(0, 1) for x in whole])


def test_the_packed_encoder_computes_the_same(monkeypatch):
    monkeypatch.setattr(speed_attention, "varlen", SimpleNamespace(varlen_attn=plain_varlen))
    theirs, packed = (build(name, SMALL, CPU).eval() for name in (TORCH, PACKED))
    solution(("load_torch_encoder",))["load_torch_encoder"](packed.encoder, theirs.layers)
    packed.encoder.embedding.load_state_dict(theirs.encoder.embedding.state_dict())
    packed.output.load_state_dict(theirs.output.state_dict())
    ids, tags, mask = batch_of(SMALL, CPU, padded=True)
    real, found = tags != -100, packed(ids, mask)
    assert torch.allclose(found[real], theirs(ids, mask)[real], atol=1e-5)
    assert not found[~real].any()


def test_where_nothing_can_be_packed_the_reason_is_told(monkeypatch):
    cuda = torch.device("cuda")
    monkeypatch.setattr(speed_attention, "varlen", None)
    assert "has no torch.nn.attention.varlen" in speed_attention.why_not_packed(cuda)
    monkeypatch.setattr(speed_attention, "varlen", SimpleNamespace())
    assert speed_attention.why_not_packed(cuda) == ""
    assert "needs a GPU" in speed_attention.why_not_packed(CPU)


def test_a_forced_kernel_computes_the_same():
    ids, _ = batch_of(SMALL, CPU, padded=False)
    free, forced = (build(name, SMALL, CPU).eval() for name in (FUSED, FLASH))
    assert torch.allclose(free(ids, None), forced(ids, None), atol=1e-5)
    assert forced.encoder.layers[0].self_attention.backend is not None


def test_the_fastest_attention_is_the_one_that_is_compiled():
    def row(name, speed):
        return {gpu_speed.BF16 + name: {name: {"words per second": speed}}}

    assert gpu_speed.best({}) == FUSED
    assert gpu_speed.best(row(FUSED, 3) | row(FLASH, 5) | row(CUDNN, 4)) == FLASH
    known = row(FUSED, 3) | {gpu_speed.BF16 + FLASH: {"failed": "RuntimeError: no kernel"}}
    assert gpu_speed.best(known) == FUSED


def test_float32_stays_float32_where_bf16_is_asked_for():
    layer, x = nn.Linear(3, 2), torch.ones(1, 3)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16
        assert Float32(layer)(x).dtype == torch.float32


@pytest.mark.parametrize(
    ("names", "gpu_there", "called"),
    [
        (["gpu", "lesson", "--toy"], False, [("bench.gpu.run", ["lesson", "--toy"])]),
        (["checks", "gpu", "lstm"], True, [("bench.checks", None), ("bench.gpu.run", ["lstm"])]),
        (["checks"], True, [("bench.checks", None)]),
        ([], False, [(f"bench.{name}", None) for name in command.NAMES]),
        ([], True, [*((f"bench.{name}", None) for name in command.NAMES), ("bench.gpu.run", [])]),
    ],
)
def test_the_command_hands_the_gpu_its_own_options(monkeypatch, names, gpu_there, called):
    found = []

    def module(name):
        return SimpleNamespace(
            measure=lambda: found.append((name, None)),
            main=lambda options: found.append((name, options)),
            cuda=SimpleNamespace(is_available=lambda: gpu_there),
        )

    monkeypatch.setattr(command, "import_module", module)
    monkeypatch.setattr(command, "keep", lambda *_: None)
    command.main(names)
    assert found == called


def test_waste_is_the_share_of_padding():
    assert waste([1, 4, 3, 2], [[0, 1], [3, 2]]) == pytest.approx(1 - 10 / 14)
