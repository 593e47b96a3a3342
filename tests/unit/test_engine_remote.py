"""Verdicts of a student's own test: given on proxies, kept where they were earned."""

import json

import pytest

from grader.engine.remote import ROUNDS, Server
from utils.checks.attention.probes import PROBES

TEST = "test_attention"
CASES = [dict(c.params) for p in PROBES if p.exercise == TEST for c in p.cases]
ARRAY = {"array": ["float32", [1, 1, 1], "AACAPw=="]}


def verdict(trial: int, says: str) -> bytes:
    return json.dumps({"exercise": TEST, "case": trial, "values": [["your test", says]]}).encode()


def ask(server: Server, trial: int) -> None:
    request = {"exercise": TEST, "trial": trial, "arguments": [ARRAY] * 3, "named": []}
    assert b"results" in server.reply(json.dumps({"call": request}).encode())


@pytest.fixture
def server() -> Server:
    return Server([{"source": "", "exercise": TEST, "cases": CASES}])


def tell(server: Server, *messages: bytes) -> list[dict]:
    """What the judge gets of messages, sent now."""
    for message in messages:
        assert server.reply(message) is None
    return [json.loads(message) for message in server.restored(messages)]


def trials(server: Server) -> range:
    return range(len(server.steps[0]["cases"]))


def test_every_version_comes_twice_under_numbers_that_say_nothing(server):
    assert len(trials(server)) == ROUNDS * len(CASES)
    assert server.steps[0]["cases"] == [{"trial": trial} for trial in trials(server)]


def test_the_same_verdict_on_all_trials_of_a_version_is_one_verdict_on_it(server):
    for trial in trials(server):
        ask(server, trial)
    told = tell(server, *(verdict(trial, "accepts") for trial in trials(server)))
    assert [message["case"] for message in told] == list(range(len(CASES)))


def test_a_verdict_on_a_version_that_was_never_asked_counts_for_nothing(server):
    assert tell(server, *(verdict(trial, "accepts") for trial in trials(server))) == []


def test_a_verdict_before_the_question_counts_for_nothing(server):
    early = [verdict(trial, "accepts") for trial in trials(server)]
    for message in early:
        server.reply(message)
    for trial in trials(server):
        ask(server, trial)
    assert server.restored(early) == ()


def test_verdicts_that_differ_between_the_rounds_count_for_nothing(server):
    for trial in trials(server):
        ask(server, trial)
    says = {0: "accepts"} | dict.fromkeys(list(trials(server))[1:], "rejects")
    told = tell(server, *(verdict(trial, text) for trial, text in says.items()))
    assert len(told) == len(CASES) - 1


@pytest.mark.parametrize(
    "forged",
    [b'{"case": 3, "values": [], "exercise": "test_attention"}',
     b' {"exercise": "test_attention", "case": 3}',
     b'{"exercise":"test_attention","case":3,"values":[]}'],
)  # fmt: skip
def test_a_verdict_written_in_another_way_does_not_slip_through(server, forged):
    assert tell(server, forged) == []


def test_other_messages_pass_as_they_are(server):
    other = b'{"exercise": "attend", "case": 3}'
    assert tell(server, other) == [json.loads(other)]
