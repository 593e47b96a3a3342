"""The bar of a training: shown where it has a title, in lessons of every kind."""

import pytest
import torch
from torch import nn

from utils.experiments import reversal_task as task
from utils.experiments.seq2seq import Seq2Seq
from utils.experiments.seq2seq import train as train_seq2seq
from utils.experiments.train import bar, train


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)


def learn(**about):
    model = nn.Linear(1, 1)
    return train(model, lambda _: model(torch.ones(1)).square().sum(), steps=5, **about)


def test_a_training_with_a_title_shows_how_far_it_is(capsys):
    learn(title="plain")
    out, err = capsys.readouterr()
    assert "plain 100% |" in out
    assert err == ""


def test_a_training_without_a_title_shows_nothing(capsys):
    learn()
    assert capsys.readouterr() == ("", "")


def test_a_bar_changes_no_result():
    torch.manual_seed(0)
    without = learn().losses
    torch.manual_seed(0)
    assert learn(title="plain").losses == without


def test_the_models_of_the_attention_lesson_show_it_too(capsys):
    batches = task.growing_batches(4, 2, 3, seed=1, n_symbols=5)
    train_seq2seq(Seq2Seq(task.vocabulary_size(5)), batches, 2, title="plain")
    assert "plain 100% |" in capsys.readouterr().out


def test_the_environment_hides_it(capsys, monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    learn(title="plain")
    assert capsys.readouterr() == ("", "")


def test_what_is_done_already_counts(capsys):
    with bar("resumed", 4, 3) as moving:
        moving.update()
    assert "resumed  75% |" in capsys.readouterr().out
