"""What an isolated process sends cannot cost the judge more memory or time than it has."""

import json

import pytest

from grader.judging.scoring import judge_submission
from grader.reading.own_process import in_own_process
from grader.reading.plan import cases_of
from grader.sandbox import Ended
from grader.workers.progress import events
from grader.workers.protocol import MOST_PARTS, MOST_PARTS_IN_ALL, Message, encode
from tests.course.lesson_runs import lesson_of
from utils.checks.observation import Observation
from utils.checks.observe.observe import observe
from utils.checks.registry import exercises, probes

EXERCISE = "scaled_dot_product_attention"
LESSON = lesson_of(EXERCISE)
ASKED = [(e.id, n) for e in LESSON.exercises for n in range(len(cases_of(LESSON, e.id)))]
SENT = 16 << 20  # bytes: two trial runs full
MORE_MEMORY = 128 << 20  # with torch and the lessons, 400 MiB


def full_of(value: bytes, size: int) -> bytes:
    return b'{"list":[' + b",".join([value] * (size // len(value))) + b"]}"


def answering(exercise: str, case: int, value: bytes) -> bytes:
    whole = encode(Message(exercise, case, Observation()))
    return whole.replace(b'"values": []', b'"values": [["y", ' + value + b"]]")


def texts() -> list[bytes]:
    inner = full_of(b'"ab"', 4 * 4000)
    return [answering(e, n, full_of(inner, SENT // len(ASKED))) for e, n in ASKED]


HOSTILE = {
    "one list of empty lists": lambda: [answering(*ASKED[0], full_of(b"[]", SENT))],
    "one event of empty tables": lambda: [b'{"event":' + full_of(b"{}", SENT) + b"}"],
    "texts in every answer": texts,
}


def judged(messages: list[bytes]) -> bytes:
    ended = Ended("finished", 0, None, tuple(messages), 0.1, 0.1, 0, "")
    told = events(ended.messages)
    outcome = judge_submission(LESSON, ended, {}, [])
    return json.dumps([outcome.score, len(told)]).encode()


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_many_small_values_are_judged_within_the_judges_memory_and_earn_nothing(make):
    messages = make()
    judged([])  # what is made once is made now
    found = in_own_process(lambda: judged(messages), memory=MORE_MEMORY)
    assert json.loads(found) == [0, 0]


def test_values_beyond_what_a_submission_may_send_are_not_read():
    right = exercises()[EXERCISE].oracle
    cases = cases_of(LESSON, EXERCISE)
    seen = [observe(probes()[EXERCISE], case, right, trusted=True) for case in cases]
    answers = [encode(Message(EXERCISE, number, what)) for number, what in enumerate(seen)]
    flood = [b"," * MOST_PARTS] * (MOST_PARTS_IN_ALL // MOST_PARTS)
    full = json.loads(judged([*answers, *flood]))[0]
    assert full > 0
    assert json.loads(judged([*flood, *answers]))[0] == 0
