"""Where the published model's files come from, and what is said where they do not."""

import hashlib
import json
from dataclasses import replace

import pytest
import torch

from utils import download
from utils.experiments import recorded as records
from utils.pretrained import measuring, tiny, weights
from utils.pretrained.torch_bert import torch_states
from utils.published import MODEL

FILES = {"model.safetensors": b"numbers", "vocab.txt": b"[PAD]\n[UNK]\nthe\n"}


@pytest.fixture
def a_publisher(monkeypatch, tmp_path):
    """A small model in the place of the published one, and no copy of it anywhere."""
    checks = {
        name: download.has_sha256(hashlib.sha256(content).hexdigest())
        for name, content in FILES.items()
    }
    here = replace(MODEL, address=(tmp_path / "web").as_uri(), files=checks)
    monkeypatch.setattr(weights, "MODEL", here)
    monkeypatch.setattr(weights, "MODEL_PACKAGE", "no_such_package")
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COURSE_MODEL", raising=False)
    (tmp_path / "web").mkdir()
    for name, content in FILES.items():
        (tmp_path / "web" / name).write_bytes(content)
    return tmp_path


def test_files_are_fetched_once_and_their_size_is_said_before(a_publisher, capsys):
    files = weights.published()
    assert files.is_real and files.content == b"numbers" and files.vocab["the"] == 2
    assert "91 MB" in capsys.readouterr().out
    for name in FILES:
        (a_publisher / "web" / name).unlink()
    assert weights.published().is_real
    assert "91 MB" not in capsys.readouterr().out


@pytest.mark.usefixtures("a_publisher")
def test_a_broken_copy_in_the_cache_is_fetched_anew():
    weights.published()
    (weights.MODEL.folder / "model.safetensors").write_bytes(b"num")
    assert weights.published().content == b"numbers"


def test_without_any_source_the_tiny_model_takes_its_place_and_says_so(a_publisher):
    (a_publisher / "web" / "vocab.txt").unlink()
    files = weights.published()
    assert not files.is_real
    assert "TINY MODEL" in files.note and "COURSE_MODEL" in files.note


def test_a_folder_of_ones_own_is_used_and_another_file_refused(a_publisher, monkeypatch):
    folder = a_publisher / "web"
    monkeypatch.setenv("COURSE_MODEL", str(folder))
    assert weights.published().note.endswith("COURSE_MODEL names")
    assert not weights.MODEL.folder.exists()
    (folder / "model.safetensors").write_bytes(b"others")
    with pytest.raises(weights.ModelError, match="not the publisher's"):
        weights.published()
    (folder / "vocab.txt").unlink()
    with pytest.raises(weights.ModelError, match=r"there is no vocab\.txt"):
        weights.published()


def test_no_path_of_a_machine_stands_in_what_a_notebook_shows(a_publisher, monkeypatch):
    assert str(a_publisher / "cache") not in weights.published().note
    monkeypatch.setenv("COURSE_MODEL", str(a_publisher / "web"))
    assert str(a_publisher) not in weights.published().note


def test_the_tiny_model_is_asked_for_and_has_the_published_ones_form(monkeypatch):
    monkeypatch.setenv("COURSE_MODEL", "tiny")
    files = weights.published()
    header_length = int.from_bytes(files.content[:8], "little")
    header = json.loads(files.content[8 : 8 + header_length])
    assert len(header) == 104
    vocab, width, _, layers, inner = files.sizes
    assert header["embeddings.word_embeddings.weight"]["shape"] == [vocab, width]
    assert header[f"encoder.layer.{layers - 1}.intermediate.dense.weight"]["shape"] == [
        inner,
        width,
    ]
    assert len(files.content) == 8 + header_length + max(
        e["data_offsets"][1] for e in header.values()
    )
    assert len(files.vocab) == vocab and files.vocab["[PAD]"] == 0
    assert [files.vocab[piece] for piece in ("[CLS]", "[SEP]")] == [tiny.CLS, tiny.SEP]


def test_figures_without_the_model_are_the_recorded_ones_and_a_line_says_so(
    monkeypatch, tmp_path, capsys
):
    kept = {"date": "2026-11-28", "processor": "one", "torch": "2", "results": {"a": [1.5]}}
    (tmp_path / "pretrained.json").write_text(json.dumps(kept))
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    monkeypatch.setenv("COURSE_MODEL", "tiny")
    lab = measuring.Measuring.of_published()
    assert lab.measured("a", lambda: 1 / 0) == [1.5]
    assert "Figures recorded on 2026-11-28" in capsys.readouterr().out


@pytest.mark.usefixtures("a_publisher")
def test_figures_of_the_model_are_measured_and_rounded(monkeypatch):
    lab = measuring.Measuring.of_published()
    assert lab.measured("a", lambda: {"b": (1 / 3, 2)}) == {"b": [0.3333, 2]}
    assert lab.found == {"a": {"b": [0.3333, 2]}}

    def offline():
        raise download.DownloadError("no network")

    monkeypatch.setattr(measuring, "recorded", lambda _: ({"a": "kept"}, "then"))
    assert lab.measured("a", offline) == "kept"


def test_each_of_three_broken_encoders_shows_its_fault():
    seen = tiny.three_broken_encoders()
    (a, _), (b, alike), (c, _) = (rows.values() for rows in seen.values())
    assert a[0] > 0.1
    assert max(b) == 0 and min(alike) < 0.97
    assert c[:2] == [0, 0] and c[2] > 0.1


def test_torchs_layers_compute_the_states_whatever_stands_at_padding():
    tensors = tiny.tensors()
    ids = torch.tensor([[101, 110, 111, 102], [101, 112, 102, 0]])
    states = torch_states(tensors, ids, tiny.SIZES[2])
    alone = torch_states(tensors, ids[1:, :3], tiny.SIZES[2])
    assert len(states) == 7
    for whole, one in zip(states, alone, strict=True):
        torch.testing.assert_close(whole[1:, :3], one, rtol=1e-4, atol=1e-5)
