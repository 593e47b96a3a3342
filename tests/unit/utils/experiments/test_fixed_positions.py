"""Fixed tables of positions, and figures that were recorded."""

import json

import pytest
import torch

from utils.experiments import recorded as module
from utils.experiments.fixed_positions import FixedPositions, apart, clock, likeness, random_rows
from utils.experiments.recorded import recorded
from utils.reference.modules import sinusoidal_encoding


def test_a_clock_with_the_papers_base_is_the_papers_table():
    torch.testing.assert_close(clock(30, 8, 10000), sinusoidal_encoding(30, 8))


def test_a_base_below_one_makes_later_hands_faster():
    first, last = clock(2, 8, 0.5)[1, [0, 6]]
    assert last > first


def test_a_rows_neighbours_are_compared_by_direction_and_by_distance():
    table = torch.tensor([[1.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    assert likeness(table) == pytest.approx(0.5)
    assert apart(table) == pytest.approx((2 + 18**0.5) / 2)


def test_random_rows_are_as_long_as_a_clocks_and_depend_on_their_seed():
    rows = random_rows(400, 32, seed=1)
    assert rows.norm(dim=1).mean().item() == pytest.approx(4, rel=0.05)
    assert not torch.equal(rows, random_rows(400, 32, seed=2))


def test_fixed_positions_are_added_and_not_trained():
    layer = FixedPositions(torch.arange(6.0).view(3, 2))
    assert layer(torch.ones(1, 2, 2)).tolist() == [[[1.0, 2.0], [3.0, 4.0]]]
    assert not list(layer.parameters())


def test_what_was_recorded_comes_with_where_and_when(tmp_path, monkeypatch):
    kept = {"date": "2026-01-02", "processor": "P", "torch": "2.13", "results": {"a": 1}}
    (tmp_path / "thing.json").write_text(json.dumps(kept))
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    found, where = recorded("thing")
    assert found == {"a": 1}
    assert where == "recorded on 2026-01-02, P, torch 2.13 (python -m bench thing)"


def test_what_another_command_measured_names_that_command(tmp_path, monkeypatch):
    kept = {"date": "d", "processor": "P", "torch": "t", "command": "made so", "results": {}}
    (tmp_path / "thing.json").write_text(json.dumps(kept))
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    assert recorded("thing")[1].endswith("(made so)")
