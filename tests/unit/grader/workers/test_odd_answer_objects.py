"""An answer that is an odd object costs its own points, and not those of others."""

import json

import pytest

from grader.sandbox import Limits
from grader.workers.pool import Job, Pool

pytestmark = pytest.mark.usefixtures("one_fork_server")
ODD = {
    "a function that wraps itself": "padding_mask.__wrapped__ = padding_mask",
    "an object that fails at every question": (
        "class Odd:\n    def __getattr__(self, name):\n        raise ValueError(name)\n"
        "    def __call__(self, *args):\n        pass\npadding_mask = Odd()"
    ),
}
CELL = """
import torch
def causal_mask(size):
    return torch.ones(1, size, size, dtype=torch.bool).tril()
def padding_mask(lengths, max_len):
    pass
"""
SIZES = [{"size": 3}, {"size": 4}]
LENGTHS = [{"lengths": [1, 2], "max_len": 3}, {"lengths": [2], "max_len": 2}]


def step(**parts: object) -> dict[str, object]:
    return {"source": "", "exercise": "", "cases": [], "label": "Cell 1"} | parts


@pytest.mark.parametrize("odd", ODD.values(), ids=list(ODD))
def test_an_answer_that_nothing_can_be_asked_of_ends_neither_its_process_nor_others_answers(odd):
    steps = [step(source=CELL + odd)]
    steps += [step(exercise="padding_mask", cases=LENGTHS)]
    steps += [step(exercise="causal_mask", cases=SIZES)]
    with Pool(1, Limits(), isolate=False) as pool:
        ((_, ended),) = pool.run([Job(0, json.dumps(steps).encode())])
    assert ended.status == "finished"
    found = [m for m in map(json.loads, ended.messages) if "event" not in m]
    assert [(m["exercise"], m["case"]) for m in found] == [
        (name, case) for name in ("padding_mask", "causal_mask") for case in (0, 1)
    ]
    assert [m["problem"] is None for m in found] == [False, False, True, True]
