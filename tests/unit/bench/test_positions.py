"""The controls of lesson 04's conclusions change what they say and nothing else."""

import pytest
import torch

from bench import positions
from utils.experiments import word_order_task as task
from utils.experiments.fixed_positions import apart, clock, likeness


@pytest.fixture
def table():
    return clock(positions.REACH, positions.WIDTH, 10000)


def test_the_first_high_measurement_tells_the_steps():
    assert positions.steps_until([0.2, 0.95, 0.5, 1.0]) == 2 * positions.EVERY
    assert positions.steps_until([0.2, 0.89]) is None


def test_centring_keeps_distances_and_lowers_the_cosine(table):
    rows, centred = table[: task.LENGTH], positions.centred(table)[: task.LENGTH]
    assert apart(centred) == pytest.approx(apart(rows), rel=1e-5)
    assert likeness(centred) < likeness(rows) - 0.1


def test_stretching_gives_centred_rows_their_length_back(table):
    centred = positions.centred(table)
    rows = positions.stretched(centred)[: task.LENGTH]
    assert rows.norm(dim=1).mean().item() == pytest.approx(table[0].norm().item(), rel=1e-5)
    assert likeness(rows) == pytest.approx(likeness(centred[: task.LENGTH]), rel=1e-5)


def test_a_calm_start_makes_long_words_scores_as_small_as_short_words(monkeypatch):
    peaks = []

    def look(model, seed, rate):
        peaks.append(model.attention(task.look_back_sentences(20, 9, seed=1).words).amax().item())
        return [0.5]

    monkeypatch.setattr(task, "train", look)
    make = positions.TABLES["random rows"]
    for calm in (False, True):
        positions.long_worded(lambda s: positions.fixed(make, s), seed=3, rate=0.1, calm=calm)
    assert peaks[0] > 0.9
    assert peaks[1] < 0.5


def test_a_model_depends_on_its_seed_alone():
    torch.rand(3)
    one = positions.seeded(lambda _: positions.tagger(), 4)
    torch.rand(5)
    other = positions.seeded(lambda _: positions.tagger(), 4)
    assert torch.equal(one.guess.weight, other.guess.weight)
