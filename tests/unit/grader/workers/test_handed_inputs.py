"""Cases' inputs: the same as the judge's, handed over once, not before their exercise's turn."""

import json
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch

from grader.grading.plan import cases_of
from grader.sandbox import Limits
from grader.workers import handed_inputs
from grader.workers.handed_inputs import TOGETHER, Handed, Kept, Maker, asked_for
from grader.workers.pool import Job, Pool
from tests.course.lesson_runs import all_lessons
from utils.checks.registry import probes

ASKED = [
    pytest.param(lesson, exercise.id, id=exercise.id)
    for lesson in all_lessons().values()
    for exercise in lesson.exercises
    if not probes()[exercise.id].served
]


def same(one: object, other: object) -> bool:
    if isinstance(one, torch.Tensor):
        facts = [(x.dtype, x.stride(), x.requires_grad) for x in (one, other)]
        arrays = [x.detach().numpy() for x in (one, other)]
        return facts[0] == facts[1] and np.array_equal(
            *arrays, equal_nan=one.dtype.is_floating_point
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def reply_of(maker: Maker) -> Callable[[bytes], bytes]:
    """What answers a request as it comes."""
    return lambda raw: maker.reply(*asked_for(raw))


@pytest.mark.parametrize(("lesson", "exercise"), ASKED)
def test_what_is_handed_over_is_what_the_judge_makes(lesson, exercise):
    cases = cases_of(lesson, exercise)
    here = Handed(exercise, reply_of(Maker({exercise: [dict(case.params) for case in cases]})))
    for number, case in enumerate(cases):
        handed, inputs = here.case(number)
        assert same(probes()[exercise].make(case.params), inputs)
        assert handed.results_only == case.results_only


def test_a_case_is_handed_over_once():
    maker = Maker({"causal_mask": [{"size": 3}]})
    assert Handed("causal_mask", reply_of(maker)).case(0)[1] == {"size": 3}
    with pytest.raises(ValueError, match="taken before"):
        Handed("causal_mask", reply_of(maker)).case(0)


def test_cases_are_handed_over_together_as_long_as_they_are_small(monkeypatch):
    sizes = {3: 100, 4: TOGETHER - 100, 5: TOGETHER + 1, 6: 100, 7: 100}
    monkeypatch.setattr(handed_inputs, "made", lambda _, params: bytes(sizes[params["size"]]))
    maker = Maker({"causal_mask": [{"size": size} for size in sizes]})
    handed = [pickle.loads(maker.reply("causal_mask", number)) for number in (0, 2, 3)]
    assert [list(map(len, some)) for some in handed] == [[100, TOGETHER - 100], [TOGETHER + 1],
                                                         [100, 100]]  # fmt: skip
    assert maker.reply("causal_mask", 4) == b""


def test_an_exercise_asks_once_for_small_inputs():
    asked = []
    reply = reply_of(Maker({"causal_mask": [{"size": size} for size in (3, 4, 5)]}))
    here = Handed("causal_mask", lambda raw: asked.append(raw) or reply(raw))
    assert [here.case(number)[1]["size"] for number in range(3)] == [3, 4, 5]
    assert len(asked) == 1


def test_a_case_is_made_once_for_all_submissions(monkeypatch):
    made = []
    monkeypatch.setattr(handed_inputs, "_KEPT", Kept(1 << 20))
    monkeypatch.setattr(handed_inputs, "packed", lambda value: made.append(value) or b"inputs")
    for _ in range(2):
        reply = Maker({"causal_mask": [{"size": 3}]}).reply("causal_mask", 0)
        assert pickle.loads(reply) == [b"inputs"]
    assert made == [(False, {"size": 3})]


def test_what_is_kept_has_a_bound():
    kept = Kept(10)
    for number in range(9):
        assert kept.of(("exercise", str(number)), lambda: bytes(4)) == bytes(4)
        assert sum(map(len, kept._made.values())) <= 10
    assert kept.of(("exercise", "8"), lambda: b"made again") == bytes(4)


@pytest.mark.parametrize(
    "raw",
    [b'{"inputs"', b'{"inputs": ["causal_mask", 9]}', b'{"inputs": [[], {}]}', b'{"inputs": 1e999}',
     b'{"inputs": ["causal_mask", 1e999]}', b'{"inputs": ["test_attention", 0]}'],
)  # fmt: skip
def test_what_is_not_there_or_cannot_be_read_is_answered_with_nothing(raw):
    cases = {"causal_mask": [{"size": 3}], "test_attention": [{"version_name": "right"}]}
    assert reply_of(Maker(cases))(raw) == b""


# It looks for the digits of a size in all memory that can be written to, and does not spell them.
SEEKS = """
import re
def seek():
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
        for line in maps:
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            memory.seek(start if " rw" in line else 0)
            if " rw" in line and re.search(b"73049[5]186", memory.read(end - start)):
                return "found"
    return "not found"
def padding_mask(tokens, pad): raise ValueError(seek())
def causal_mask(size): raise ValueError(seek())
"""


def test_a_hidden_case_is_not_in_the_process_before_its_exercises_turn():
    steps = [{"source": SEEKS, "exercise": "", "cases": []}]
    for exercise, size in (("padding_mask", 3), ("causal_mask", "730495186")):
        case = dict(probes()[exercise].cases[0].params) if size == 3 else {"size": size}
        steps.append({"source": "", "exercise": exercise, "cases": [case]})
    with Pool(1, Limits(), isolate=False) as pool:
        (_, end), *_ = pool.run([Job(0, json.dumps(steps).encode())])
    said = [json.loads(raw)["problem"][1] for raw in end.messages if b'"problem"' in raw]
    assert said == ["ValueError: not found", "ValueError: found"]


# The word of the first submission is not spelled in the second, so that only the first has it.
EARLIER = "word = 'of an earlier submission'"
SEEKS_EARLIER = """
import re
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    for line in maps:
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        memory.seek(start if " rw" in line else 0)
        if " rw" in line and re.search(b"an earlie[r] submission", memory.read(end - start)):
            raise LookupError
"""


def test_nothing_of_one_submission_is_in_the_process_of_another():
    jobs = []
    for number, source in enumerate((EARLIER, EARLIER, SEEKS_EARLIER)):
        cell = {"source": source, "exercise": "", "cases": []}
        asked = {"source": "", "exercise": "causal_mask", "cases": [{"size": 3}]}
        jobs.append(Job(number, json.dumps([cell, asked]).encode()))
    with Pool(1, Limits(), isolate=False) as pool:
        told = [end.messages for _, end in pool.run(jobs)]
    assert [b"LookupError" in b"".join(messages) for messages in told] == [False] * 3
