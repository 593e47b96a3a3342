"""Observations cross as bytes in a fixed schema, and nothing else does."""

import base64
import json
import math
import re
import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.workers import protocol
from grader.workers.progress import MOST_BYTES, Event, What, events
from grader.workers.protocol import (
    ARRAY_BYTES,
    DTYPES,
    MOST_PARTS,
    Message,
    WireError,
    decode,
    encode,
)
from utils.checks.observation import Observation, Other, Problem, ProblemKind
from utils.checks.observe import observe

NAMES = st.text(string.printable, max_size=20)
ARRAYS = hnp.arrays(
    st.sampled_from([np.dtype(name) for name in DTYPES]), hnp.array_shapes(min_dims=0, max_dims=4)
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | NAMES
PLAIN = st.recursive(
    SCALARS | ARRAYS | st.builds(Other, NAMES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBSERVATIONS = st.builds(
    Observation,
    st.dictionaries(NAMES, PLAIN, max_size=3),
    st.dictionaries(NAMES, ARRAYS | st.none(), max_size=3),
    st.lists(NAMES, max_size=3).map(tuple),
    st.none() | st.builds(Problem, st.sampled_from(["stub", "exception"]), NAMES, NAMES),
)


def alike(one, other):
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
        return one.dtype == other.dtype and one.shape == other.shape
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    both_nan = isinstance(one, float) and math.isnan(one) and math.isnan(other)
    return type(one) is type(other) and (both_nan or one == other)


EXERCISES = st.from_regex(re.compile(r"\A\w{1,60}\Z", re.ASCII))


@given(EXERCISES, st.integers(0, 4000), OBSERVATIONS)
def test_what_is_encoded_is_decoded_the_same(exercise, number, seen):
    back = decode(encode(Message(exercise, number, seen)))
    assert (back.exercise, back.case) == (exercise, number)
    assert alike(dict(seen.values), dict(back.observation.values))
    assert alike(dict(seen.gradients), dict(back.observation.gradients))
    assert (seen.changed, seen.problem) == (back.observation.changed, back.observation.problem)


def test_every_kind_of_problem_that_questioning_finds_can_be_sent():
    checks = Path(observe.__file__).parents[1]
    asking = [checks / "observe/observe.py", *checks.glob("authoring/*.py")]
    texts = [p.read_text("utf-8") for p in (*asking, *checks.glob("lessons/*/probes/*.py"))]
    named = {kind for text in texts for kind in re.findall(r"ProblemKind\.([A-Z]+)", text)}
    assert {"CHANCE", "RETURN"} <= named
    assert {ProblemKind[name] for name in named} <= set(protocol.KINDS)


@given(st.binary(max_size=300))
def test_any_other_bytes_are_refused_and_nothing_worse(raw):
    with pytest.raises(WireError):
        decode(raw)


JSON = st.recursive(SCALARS, lambda x: st.lists(x) | st.dictionaries(NAMES, x), max_leaves=20)


@given(st.dictionaries(st.sampled_from(["values", "gradients", "x"]), JSON) | JSON)
def test_any_other_json_is_refused_and_nothing_worse(data):
    with pytest.raises(WireError):
        decode(json.dumps(data).encode())


def message_with(value, **changes):
    data = {"exercise": "x", "case": 0, "values": [["y", value]], "gradients": [],
            "changed": [], "problem": None}  # fmt: skip
    return json.dumps(data | changes).encode()


@pytest.mark.parametrize(
    ("said", "instead"),
    [(b'"exercise": "y"', b'"exercise": "x"'), (b'"case": 1', b'"case": 0')],
)
def test_a_message_that_names_another_question_later_is_refused(said, instead):
    """The watcher passes a message on by its head; Python's JSON keeps what comes last."""
    honest = message_with(0)
    twice = honest.replace(instead, said, 1)[:-1] + b", " + instead + b"}"
    assert json.loads(twice) == json.loads(honest)
    assert decode(honest).exercise == "x"
    with pytest.raises(WireError):
        decode(twice)


BYTES8 = base64.b64encode(bytes(8)).decode()


@pytest.mark.parametrize(
    "raw",
    [
        message_with({"array": ["float32", [3], BYTES8]}),
        message_with({"array": ["float32", [-2, -1], BYTES8]}),
        message_with({"array": ["object", [1], BYTES8]}),
        message_with({"array": ["float64", [1.0], BYTES8]}),
        message_with({"array": ["float64", [True], BYTES8]}),
        message_with({"array": ["float64", [1] * 9, BYTES8]}),
        message_with({"array": ["float64", [1], "not base64!"]}),
        message_with({"array": ["uint8", [ARRAY_BYTES + 1], "A" * 4 * (ARRAY_BYTES // 3 + 1)]}),
        message_with({"pickle": "gASVAA=="}),
        message_with({}),
        message_with({"other": "x", "list": []}),
        message_with({"list": None}),
        message_with({"array": ["float32", [0, 2**40], ""]}),
        message_with({"table": [["x", 1, 2]]}),
        message_with(2**70),
        message_with("x" * 2001),
        message_with(0, case=-1),
        message_with(0, case=True),
        message_with(0, exercise=3),
        message_with(0, problem=["fine", "", ""]),
        message_with(0, values={"y": 1}),
        message_with(0, extra=1),
        b"[" * 100_000,
    ],
)
def test_a_message_out_of_bounds_is_refused(raw):
    with pytest.raises(WireError):
        decode(raw)


def test_values_nested_too_deep_are_refused():
    value = 0
    for _ in range(20):
        value = {"list": [value]}
    with pytest.raises(WireError):
        decode(message_with(value))


def test_an_array_too_large_to_cross_is_described_instead():
    seen = Observation({"y": np.zeros(ARRAY_BYTES, np.float64)})
    assert isinstance(decode(encode(Message("x", 0, seen))).observation.values["y"], Other)


def test_numbers_beyond_64_bits_are_described_instead():
    assert isinstance(
        decode(encode(Message("x", 0, Observation({"y": 2**64})))).observation.values["y"], Other
    )


def test_lone_surrogates_in_a_message_become_question_marks():
    raw = message_with("a\ud800", problem=["exception", "b\udfff", "c\ud800"])
    seen = decode(raw).observation
    assert (seen.values["y"], seen.problem) == ("a?", Problem("exception", "b?", "c?"))


def test_a_message_of_too_many_small_values_is_refused_unread(monkeypatch):
    monkeypatch.setattr(protocol.json, "loads", lambda _: pytest.fail("it was read"))
    with pytest.raises(WireError, match="too many"):
        decode(b'{"exercise": [' + b"[]," * MOST_PARTS + b"[]]}")


def test_an_observation_of_too_many_values_crosses_as_a_sentence_that_says_so():
    singles = [[n] for n in range(3000)]
    seen = Observation({f"run {n}": singles for n in range(8)})
    found = decode(encode(Message("bucket_batches", 6, seen)))
    assert (found.exercise, found.case, found.observation.values) == ("bucket_batches", 6, {})
    assert "many more parts" in found.observation.problem.message


def test_an_event_longer_than_any_of_ours_is_left_out_unread(monkeypatch):
    monkeypatch.setattr(protocol.json, "loads", lambda _: pytest.fail("it was read"))
    assert events([b'{"event": [' + b"{}," * MOST_BYTES + b"{}]}"]) == []


def test_an_event_is_short_enough_however_long_the_errors_name_is():
    named = Event(What.FAILED, 5, 0, 5, 7, "\u20ac" * 5000)
    (found,) = events([named.message()])
    assert (found.what, found.step, found.line) == (What.FAILED, 5, 7)
