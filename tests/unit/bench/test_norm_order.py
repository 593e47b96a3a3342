"""The record of learning rates: every depth, order, warm-up, rate and seed, trained alone."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from bench import norm_order
from utils.experiments.train import train
from utils.experiments.word_order_task import look_back_sentences


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(norm_order, "STEPS", 2)
    monkeypatch.setattr(norm_order, "UNSEEN", 3)
    monkeypatch.setattr(norm_order, "DEPTHS", (1, 3))
    monkeypatch.setattr(norm_order, "RATES", (1e-4, 1e-3, 1e-2, 1e-1))


def test_the_record_holds_every_setting_by_rate_and_seed(short):
    found = norm_order.measure()
    assert len(found["right"]) == 2 * 2 * 2
    assert {(len(runs), len(runs[0])) for runs in found["right"].values()} == {(4, 3)}
    assert "3 layers, pre-norm, warm-up 100" in found["right"]


def test_each_setting_trains_another_encoder(short):
    settings = [(1, False, 0, 0.1, 0), (3, False, 0, 0.1, 0), (1, True, 0, 0.1, 0)]
    settings += [(1, False, 9, 0.1, 0), (1, False, 0, 0.2, 0), (1, False, 0, 0.1, 1)]
    before = torch.tensor([norm_order.share_right(*setting) for setting in settings])
    again = torch.tensor([norm_order.share_right(*setting) for setting in settings])
    assert before.equal(again)
    assert len(before.unique()) > 3


def test_words_are_as_long_as_their_places():
    torch.manual_seed(0)
    encoder = norm_order.Tagger(1, norm_first=True).encoder
    words = encoder.embedding(look_back_sentences(8, 16, 0).words).norm(dim=-1).mean()
    assert words.item() / norm_order.WIDTH**0.5 == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("warm_up", "steps"), [(0, [5.0] * 4), (4, [1.25, 2.5, 3.75, 5.0])])
def test_a_rate_rises_in_equal_steps_to_its_full_height(warm_up, steps):
    model = nn.Linear(1, 1, bias=False)
    seen = [model.weight.item()]
    train(
        model,
        lambda _: model.weight.sum(),
        steps=4,
        rate=5.0,
        warm_up=warm_up,
        method=torch.optim.SGD,
        after=lambda _: seen.append(model.weight.item()),
    )
    moved = [before - after for before, after in pairwise(seen)]
    assert moved == pytest.approx(steps, abs=1e-4)
