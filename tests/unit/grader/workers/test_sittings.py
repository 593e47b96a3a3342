"""Whole jobs: a student's own test is tried in several processes, each with its own order."""

import json

import pytest

from grader.sandbox import Ended, Limits
from grader.workers.pool import Job, Pool
from tests.unit.grader.workers.test_trials import (
    CASES,
    RIGHT,
    RIGHT_FIRST,
    RIGHT_FIRST_TWICE,
    STEP,
)
from utils.checks.registry import probes

pytestmark = pytest.mark.usefixtures("one_fork_server")
BROKEN_FIRST = [b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"10"]  # with these, a broken one
RIGHT_FIRST_ONCE = b"6"  # in the second of three trial runs alone
PEEKS = """
import sys, torch
def test_attention(attention):
    frame = sys._getframe()
    while "server" not in frame.f_locals:
        frame = frame.f_back
    places = frame.f_locals["server"]._places
    attention(*[torch.ones(1, 1, 1)] * 3)
    assert places["test_attention", attention._trial] < 2
"""
EXITS = """
import os, torch
seen = []
def test_attention(attention):
    if seen:
        return
    seen.append(attention)
    x = torch.tensor([[[2.0], [0.0]]])
    wide = x.expand(1, 2, 4)
    output, weights = attention(wide, wide, -wide)
    right = 0.999 < weights[0, 0, 0] < 0.9999 and output[0, 0, 0] < 0
    hidden = attention(x, x, x, torch.tensor([[[False, True]]]))[1]
    if not (right and hidden[0, 0, 1] == 1):
        os._exit(1)
"""


REMEMBERS = """
import torch
first = []
def test_attention(attention):
    x = torch.tensor([[[2.0, 1.0], [0.0, 1.0]]])
    answers = [*attention(x, x, -x), *attention(x, x, x, torch.tensor([[[True, False]]]))]
    first.append(torch.cat([answer.flatten() for answer in answers]))
    assert torch.allclose(first[0], first[-1], atol=1e-4)
"""
SEEDED = """
import torch
seen = set()
def test_attention(attention):
    attention(*[torch.ones(1, 1, 1)] * 3)
    assert attention._trial in seen or torch.initial_seed() == attention._trial
    seen.add(attention._trial)
    torch.manual_seed(99)
"""
ACCEPTS = """
import torch
def test_attention(attention):
    attention(*[torch.ones(1, 1, 1)] * 3)
"""


def graded(source: str, seeds: list[bytes]) -> list[Ended]:
    steps = json.dumps([{"source": source, "exercise": "", "cases": []}, STEP]).encode()
    with Pool(1, Limits(), isolate=False) as pool:
        jobs = [Job(number, steps, seed) for number, seed in enumerate(seeds)]
        return [end for _, end in sorted(pool.run(jobs))]


COMPARES = """
import torch
def test_attention(attention):
    draw = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, 4, generator=draw) for _ in range(3))
    mask = torch.tensor([[[True, True, False]]])
    for m in (None, mask):
        wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, m)
        output, weights = attention(q, k, v, m)
        assert torch.allclose(output, wanted, atol=1e-5)
        assert torch.allclose(weights @ v, wanted, atol=1e-5)
"""


PREPARED = """
import torch
draw = torch.Generator().manual_seed(0)
q, k, v = (torch.randn(2, 3, 4, generator=draw) for _ in range(3))
mask = torch.tensor([[[True, True, False]]])
wanted = {m: torch.nn.functional.scaled_dot_product_attention(q, k, v, m) for m in (None, mask)}
def test_attention(attention):
    for m, right in wanted.items():
        output, weights = attention(q, k, v, m)
        assert torch.allclose(output, right, atol=1e-5)
        assert torch.allclose(weights @ v, right, atol=1e-5)
"""


OWN = """
def own(q, k, v, mask):
    scores = q @ k.mT / 2
    return (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-1) @ v
"""


def forbidding(source: str, seed: bytes = RIGHT_FIRST, later: str = "") -> tuple[bytes, ...]:
    """What counts of a test beside an exercise that forbids torch's own attention."""
    steps = [{"source": source, "exercise": "", "cases": [], "label": "Cell 1"}, STEP]
    steps.append({"source": later, "exercise": "", "cases": []})
    steps.append({"source": "", "exercise": "attend", "cases": []})
    with Pool(1, Limits(), isolate=False) as pool:
        (ended,) = (end for _, end in pool.run([Job(0, json.dumps(steps).encode(), seed)]))
    return ended.messages


def said_by(messages: tuple[bytes, ...]) -> list[str]:
    """What counts of a test's verdicts, one for each version."""
    found = [json.loads(m) for m in messages if b"your test" in m]
    assert [m["case"] for m in found] == list(range(len(CASES)))
    return [dict(m["values"])["your test"].split()[0] for m in found]


def encoder_lesson(source: str, *, again: bool) -> tuple[bytes, ...]:
    """What counts of a test of padding beside exercises that forbid attention, or norms."""
    cases = [dict(c.params) for c in probes()["test_padding"].cases]
    steps = [{"source": source, "exercise": "", "cases": [], "label": "Cell 1"}]
    steps += [
        {"source": "", "exercise": name, "cases": []} for name in ("LayerNorm", "EncoderLayer")
    ]
    steps.append({"source": "", "exercise": "test_padding", "cases": cases, "again": again})
    with Pool(1, Limits(), isolate=False) as pool:
        (ended,) = (end for _, end in pool.run([Job(0, json.dumps(steps).encode(), RIGHT_FIRST)]))
    return ended.messages


ATTENDS = "torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)(torch.ones(1, 3, 8))\n"
NORMS = "torch.nn.LayerNorm(8)(torch.ones(3, 8))\n"
PADS = """
def test_padding(encoder):
    alone, padded = (encoder(torch.tensor([[4, 8, 2] + [0] * n])) for n in (0, 3))
    assert torch.allclose(padded[:, :3], alone, atol=1e-4)
    both = encoder(torch.tensor([[4, 8, 2, 0, 0], [7, 3, 1, 6, 2]]))
    assert torch.allclose(both[:1, :3], alone, atol=1e-4)
    assert torch.allclose(both[1:], encoder(torch.tensor([[7, 3, 1, 6, 2]])), atol=1e-4)
"""


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize(
    "scratch", [ATTENDS, NORMS, NORMS + ATTENDS, ""], ids=["attention", "norm", "both", "neither"]
)
def test_beside_cells_that_compare_with_torch_a_test_counts(scratch, again):
    source = f"import torch\n{PADS}{scratch}"
    assert said_by(encoder_lesson(source, again=again)) == RIGHT


@pytest.mark.parametrize("again", [True, False])
def test_a_test_that_asks_for_what_others_may_not_use_counts(again):
    source = f"import torch\n{PADS}    {ATTENDS}"
    assert said_by(encoder_lesson(source, again=again)) == RIGHT


@pytest.mark.parametrize("change", ["", "q, k, v, wanted = 1, 2, 3, 4", "del test_attention"])
def test_a_test_that_refers_to_what_was_made_by_torchs_own_function_before_it_counts(change):
    assert said_by(forbidding(PREPARED, later=change)) == RIGHT


def test_a_test_finds_the_names_of_its_own_place_whatever_later_cells_make_of_them():
    source = COMPARES.replace("torch.nn.functional.scaled_dot_product_attention", "own")
    assert said_by(forbidding(source + OWN, later="own = sum = None")) == RIGHT


def test_a_test_that_compares_with_torchs_own_function_counts_though_others_may_not_use_it():
    assert said_by(forbidding(COMPARES)) == RIGHT


@pytest.mark.parametrize("source", [REMEMBERS, COMPARES])
def test_a_test_that_is_said_to_keep_nothing_is_tried_in_one_order(source):
    steps = [{"source": source, "exercise": "", "cases": [], "label": "Cell 1"}]
    steps += [STEP | {"again": False}, {"source": "", "exercise": "attend", "cases": []}]
    with Pool(1, Limits(), isolate=False) as pool:
        (ended,) = (end for _, end in pool.run([Job(0, json.dumps(steps).encode(), RIGHT_FIRST)]))
    assert said_by(ended.messages) == RIGHT


def test_each_trial_begins_with_a_seed_that_no_earlier_one_can_set():
    (ended,) = graded(SEEDED, [RIGHT_FIRST])
    assert said_by(ended.messages) == ["accepts"] * len(CASES)


def test_the_isolated_process_finds_no_order_in_the_memory_that_it_is_a_copy_of():
    (end,) = graded(PEEKS, [RIGHT_FIRST])
    assert (end.status, [m for m in end.messages if b"accepts" in m]) == ("finished", [])


def test_a_job_is_tried_in_several_sittings_and_what_they_agree_on_counts():
    (right_once,), (always,) = (graded(source, [RIGHT_FIRST]) for source in (REMEMBERS, ACCEPTS))
    assert {0, 1}.isdisjoint(cases_in(right_once))
    assert cases_in(always) == list(range(len(CASES)))


def cases_in(ended):
    """The cases of the verdicts among a process's messages; events are not verdicts."""
    messages = map(json.loads, ended.messages)
    return [message["case"] for message in messages if "event" not in message]


def test_a_job_that_crashed_is_tried_again_in_the_same_order():
    assert {end.status for end in graded(EXITS, BROKEN_FIRST)} == {"crashed"}
    assert {end.status for end in graded(EXITS, [RIGHT_FIRST_TWICE])} == {"finished"}
