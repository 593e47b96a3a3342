"""The record of capacity against steps: each seed of each model, trained anew for each length."""

import pytest

from bench import reversal


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(reversal, "LENGTH", 3)
    monkeypatch.setattr(reversal, "UNSEEN", 7)
    monkeypatch.setattr(reversal, "BATCH", 4)
    monkeypatch.setattr(reversal, "SEEDS", (0, 5))


def test_a_row_holds_every_seed_for_every_number_of_steps(short):
    found = reversal.row(lambda: reversal.plain(6), (1, 2))
    assert [len(runs) for runs in found["symbols"].values()] == [2, 2]
    assert list(found["sequences"]) == ["1", "2"]
    assert found["parameters"] == sum(p.numel() for p in reversal.plain(6).parameters())


def test_the_seed_alone_decides_what_is_recorded(short):
    runs = [reversal.examined(lambda: reversal.plain(6), 3, seed) for seed in (0, 0, 5)]
    assert runs[0] == runs[1] != runs[2]


def test_attention_learns_a_short_reversal_and_is_told_as_shares(short):
    symbols, whole = reversal.examined(reversal.with_attention, 2, seed=0)
    assert 0 <= whole <= symbols <= 1
