"""Inputs that are kept: as those made anew, each caller's own, and only where nobody can tell."""

import pytest
import torch

from utils.checks.exercise import Probe
from utils.checks.observe.kept_inputs import keeping
from utils.checks.variation import VARIATION, current_variation


def counted(make):
    """A probe that keeps what `make` gives, and the list of what it was asked for."""
    asked = []

    def inputs(**params):
        asked.append(params)
        return make(**params)

    return keeping(Probe("any", inputs, lambda _answer, _inputs: {}, ())), asked


def test_inputs_are_made_once_for_the_same_parameters():
    probe, asked = counted(lambda n: {"x": torch.arange(n)})
    first, second, other = probe.make({"n": 3}), probe.make({"n": 3}), probe.make({"n": 4})
    assert [len(inputs["x"]) for inputs in (first, second, other)] == [3, 3, 4]
    assert asked == [{"n": 3}, {"n": 4}]


def test_another_variation_gives_other_inputs():
    probe, _ = counted(lambda: {"word": current_variation()})
    words = ["", "autumn", "", "spring", "autumn"]
    assert [probe.make({VARIATION: word})["word"] for word in words] == words


def test_another_default_dtype_gives_other_inputs():
    probe, _ = counted(lambda: {"x": torch.zeros(2)})
    assert probe.make({})["x"].dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert probe.make({})["x"].dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_what_one_caller_writes_no_other_finds():
    probe, _ = counted(lambda: {"x": torch.zeros(2), "deep": {"a": [[1], (torch.ones(1),)]}})
    for _ in range(3):
        inputs = probe.make({})
        assert inputs["x"].tolist() == [0, 0]
        assert inputs["deep"]["a"][0] == [1]
        assert inputs["deep"]["a"][1][0].item() == 1
        inputs["x"][0] = 5
        inputs["deep"]["a"][0].append(2)
        inputs["deep"]["a"][1][0][0] = 7
        del inputs["deep"]


def shared():
    x = torch.zeros(2)
    return {"x": x, "again": x}


def one_list_twice():
    row = [1]
    return {"rows": [row, row]}


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"f": lambda: 1},
        lambda: {"layer": torch.nn.Linear(1, 1)},
        lambda: {"x": torch.zeros(2, 3).T},
        lambda: {"x": torch.zeros(1).expand(3)},
        lambda: {"x": torch.zeros(4)[1:]},
        lambda: {"x": torch.zeros(1, requires_grad=True)},
        lambda: {"x": torch.nn.Parameter(torch.zeros(1))},
        lambda: {"x": torch.rand(1)},
        lambda: {"x": torch.eye(2).to_sparse()},
        lambda: dict(zip("ab", torch.zeros(2, 1), strict=True)),
        lambda: {"x": torch.zeros(1000, 1000)},
        shared,
        one_list_twice,
    ],
)
def test_what_no_copy_would_be_like_is_made_anew(make):
    probe, asked = counted(make)
    for _ in range(3):
        probe.make({})
    assert len(asked) == 3
