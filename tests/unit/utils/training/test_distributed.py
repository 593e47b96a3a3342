"""Training by several processes: the same curve as by one, also after one of them was killed."""

import io
import math
import os

import pytest
import torch
import torch.distributed as dist

from utils.notebook.export_script import NEEDED, needed_parts, source_of_parts, write_script
from utils.training import torchrun
from utils.training.distributed import NotTrainedYet, load_trained, share_of, train_parallel
from utils.training.trainer import fit

needs_gloo = pytest.mark.skipif(
    not dist.is_available() or not dist.is_gloo_available(), reason="torch has no gloo here"
)

IMPORTS = """
import os, random, signal
from pathlib import Path

import torch
from torch import nn

from utils.reference.modules import TransformerEncoder
from utils.training.config import Settings
"""
DATA = """
draw = random.Random(5)
lengths = [3, 9, 2, 7, 5, 1, 8, 4, 6, 2, 0, 3, 5]
pairs = [[(draw.randrange(2, 19), draw.randrange(6)) for _ in range(n)] for n in lengths]
groups = [[0, 1, 2], [3, 4, 5, 6, 7], [8], [9, 10], [11, 12]]  # the third is for one process alone


def collate(sentences):
    ids = torch.zeros(len(sentences), 10, dtype=torch.long)
    tags = torch.full((len(sentences), 10), -100)
    for row, sentence in enumerate(sentences):
        for column, (word, tag) in enumerate(sentence):
            ids[row, column], tags[row, column] = word, tag
    return ids, torch.tensor([len(s) for s in sentences]), tags


def batches(generator):
    order = torch.randperm(len(groups), generator=generator).tolist()
    return [collate([pairs[i] for i in groups[k]]) for k in order]
"""
MODEL = """
class Tagger(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.encoder = TransformerEncoder(19, 16, 4, 2, 24, 50, dropout)
        self.output = nn.Linear(16, 6)

    def forward(self, ids):
        return self.output(self.encoder(ids))


def make_model():
    return Tagger(settings.dropout)


def dev_accuracy(model):
    Path("measured-" + os.environ.get("RANK", "alone")).touch()
    model.eval()
    ids, lengths, tags = collate(pairs)
    with torch.no_grad():
        return (model(ids).argmax(-1) == tags).sum().item() / lengths.sum().item()
"""
# A mean over no word is NaN here, and so is its gradient: it may not reach the others.
STEP = """
def train_step(model, batch, optimizer, scheduler, device, clip):
    model.train()
    optimizer.zero_grad()
    ids, _, tags = (part.to(device) for part in batch)
    real, scores = tags != -100, model(ids).log_softmax(-1)
    right = scores.gather(-1, tags.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    loss = -(right * real).sum() / real.sum()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    scheduler.step()
    return loss.item()
"""
# The second process dies in the middle of the third epoch, once.
KILLED = """
honest_step = train_step
died = Path("died")


def train_step(model, batch, optimizer, scheduler, device, clip):
    if scheduler.last_epoch == 12 and os.environ.get("RANK") == "1" and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return honest_step(model, batch, optimizer, scheduler, device, clip)
"""
SETTINGS = "settings = Settings(epochs=4, rate=0.01, clip=0.5, dropout={})"


def cells(dropout=0.0, *more):
    return ["", IMPORTS, DATA, SETTINGS.format(dropout), MODEL, STEP, *more]


def loaded(sources):
    """The notebook's names."""
    names = {}
    exec(source_of_parts(needed_parts(sources, NEEDED)), names)
    return names


def trained_here(sources):
    """Curves of one process, which knows nothing of others."""
    names = loaded(sources)
    torch.manual_seed(names["settings"].seed)
    model = names["make_model"]()
    steps = names["batches"], names["train_step"], names["dev_accuracy"], names["settings"]
    return fit(model, *steps, device="cpu"), model


def trained_by_two(folder, monkeypatch, sources, **options):
    """Whether torchrun ended well; the script and its files lie in the folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    write_script(folder / "train.py", sources)
    return torchrun.run_script(folder / "train.py", 2, seconds=120, **options)


def curves(folder, sources):
    model = loaded(sources)["make_model"]()
    return load_trained(folder / "train.pt", model), model


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Two processes with dropout, whom nobody disturbs."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert trained_by_two(folder, monkeypatch, cells(0.3))
    return curves(folder, cells())[0]


@needs_gloo
def test_two_processes_give_the_loss_curve_of_one(tmp_path, monkeypatch, capsys):
    assert trained_by_two(tmp_path, monkeypatch, cells())
    said = capsys.readouterr().out
    history, model = curves(tmp_path, cells())
    expected, one_model = trained_here(cells())
    assert history.losses == pytest.approx(expected.losses, abs=1e-4)
    assert history.rates == expected.rates
    assert [e.words for e in history.epochs] == [55] * 4
    assert history.best.accuracy == pytest.approx(expected.best.accuracy)
    ids = torch.arange(2, 19).view(1, 17)
    assert torch.allclose(model.eval()(ids), one_model.eval()(ids), atol=1e-2)
    assert "2 processes on CPU\n" in said
    assert said.count("epoch 4 of 4: loss") == 1
    assert said.endswith("train.py is done\n")
    assert (tmp_path / "measured-0").exists()
    assert not (tmp_path / "measured-1").exists()


@pytest.fixture
def killed(tmp_path, monkeypatch, capsys):
    """A folder in which training stopped, since one process of two was killed."""
    assert not trained_by_two(tmp_path, monkeypatch, cells(0.3, KILLED))
    assert capsys.readouterr().out.endswith("process 1 failed (SIGKILL)\n")
    assert (tmp_path / "train.checkpoint").exists()
    return tmp_path


@needs_gloo
def test_a_run_started_again_after_a_kill_gives_the_same_curve(
    uninterrupted, killed, monkeypatch, capsys
):
    assert trained_by_two(killed, monkeypatch, cells(0.3, KILLED))
    assert "going on after 2 of 4 epochs" in capsys.readouterr().out
    assert curves(killed, cells())[0].losses == uninterrupted.losses
    assert not (killed / "train.checkpoint").exists()


@needs_gloo
def test_torchrun_restarts_after_a_kill_and_the_curve_is_the_same(
    uninterrupted, tmp_path, monkeypatch, capsys
):
    assert trained_by_two(tmp_path, monkeypatch, cells(0.3, KILLED), restarts=1)
    assert (tmp_path / "died").exists()
    assert "going on after 2 of 4 epochs" in capsys.readouterr().out
    assert curves(tmp_path, cells())[0].losses == uninterrupted.losses


def test_shares_hold_every_word_once_and_their_weights_sum_to_one():
    sentences = loaded(cells())
    batch = sentences["collate"]([p for p in sentences["pairs"] if len(p) != 9])
    shares, weights = zip(*(share_of(batch, rank, 5) for rank in range(5)), strict=True)
    assert math.fsum(weights) == pytest.approx(1)
    rows = [row[:n] for ids, lengths, _ in shares for row, n in zip(ids, lengths, strict=True)]
    expected = [row[:n] for row, n in zip(*batch[:2], strict=True)]
    assert sorted(map(torch.Tensor.tolist, rows)) == sorted(map(torch.Tensor.tolist, expected))
    for (ids, lengths, tags), weight in zip(shares, weights, strict=True):
        assert ids.shape == tags.shape == (len(lengths), max(lengths))
        assert weight == lengths.sum() / batch[1].sum()


def test_a_process_without_a_sentence_is_lent_one_that_counts_nothing():
    batch = torch.tensor([[4, 5, 0]]), torch.tensor([2]), torch.tensor([[1, 2, -100]])
    share, weight = share_of(batch, 3, 4)
    assert weight == 0
    assert share[0].tolist() == [[4, 5]]
    assert share_of(batch, 0, 4)[1] == 1


def test_a_share_without_a_word_keeps_a_column_and_counts_nothing():
    batch = torch.zeros(2, 3).long(), torch.tensor([0, 0]), torch.full((2, 3), -100)
    (ids, _, tags), weight = share_of(batch, 1, 2)
    assert ids.shape == tags.shape == (1, 1)
    assert weight == 0


def test_a_script_run_by_itself_is_one_process(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = loaded(cells())
    given = [names[name] for name in NEEDED]
    history = train_parallel(*given, file=tmp_path / "train.pt")
    assert history.losses == pytest.approx(trained_here(cells())[0].losses, abs=1e-4)
    assert curves(tmp_path, cells())[0] == history
    assert capsys.readouterr().out.startswith("one process on ")


def test_a_file_that_training_did_not_write_is_named(tmp_path):
    with pytest.raises(NotTrainedYet, match=r"train\.pt is not there"):
        load_trained(tmp_path / "train.pt", torch.nn.Linear(2, 3))


def script(folder, text):
    path = folder / "train.py"
    path.write_text(text)
    return path


def test_an_error_in_the_script_is_shown_and_told(tmp_path, capsys):
    path = script(tmp_path, "print('begun')\nraise ValueError('my slip')")
    assert not torchrun.run_script(path, 1)
    said = capsys.readouterr().out
    assert "begun\n" in said
    assert "ValueError: my slip\n" in said
    assert said.endswith("train.py ended with an error: process 0 failed (exit code 1)\n")
    assert "torch/distributed" not in said


def test_an_error_in_another_process_is_shown_too(tmp_path, capsys):
    path = script(tmp_path, "import os\nassert os.environ['RANK'] == '0', 'not the first'")
    assert not torchrun.run_script(path, 2)
    said = capsys.readouterr().out
    assert "AssertionError: not the first\n" in said
    assert said.endswith("process 1 failed (exit code 1)\n")


def test_a_script_is_stopped_at_its_time_limit(tmp_path, capsys):
    assert not torchrun.run_script(script(tmp_path, "while True: pass"), 1, seconds=0.1)
    assert capsys.readouterr().out == "train.py was stopped after 0.1 s\n"


def test_an_interrupt_ends_all_processes(tmp_path, monkeypatch):
    class Interrupted(io.StringIO):
        def write(self, text):
            super().write(text)
            if text.startswith("pid"):
                raise KeyboardInterrupt

    path = script(tmp_path, "import os, time\nprint('pid', os.getpid())\ntime.sleep(600)")
    monkeypatch.setattr("sys.stdout", said := Interrupted())
    with pytest.raises(KeyboardInterrupt):
        torchrun.run_script(path, 1)
    with pytest.raises(ProcessLookupError):
        os.kill(int(said.getvalue().split()[1]), 0)


def test_one_device_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torchrun, "_followed", lambda command, *_: command.append("run") or "")
    assert torchrun.run_script(tmp_path / "train.py")
    said = "There is no NVIDIA GPU, so one process trains; with more GPUs, as many.\n"
    assert capsys.readouterr().out == f"{said}train.py is done\n"
