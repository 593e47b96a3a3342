"""A student's test that never calls a version is told why, and gains nothing by saying so."""

import json

import pytest

from grader.workers.protocol import Message, encode
from tests.unit.grader.workers.test_trials import RIGHT_FIRST, TEST, served, trials
from utils.checks.observation import Observation, Problem


def told(kind: str, says: str) -> list[dict]:
    server = served(RIGHT_FIRST)
    for trial in trials(server):
        seen = Observation({"your test": says}, problem=Problem(kind, "x is not defined"))
        server.reply(encode(Message(TEST, trial, seen)))
    return [json.loads(message) for message in server.verdicts()]


@pytest.mark.parametrize("kind", ["stub", "exception"])
def test_what_stopped_a_test_before_its_first_call_is_told_of_every_version(kind):
    assert [message["problem"][0] for message in told(kind, "")] == [kind] * 6


@pytest.mark.parametrize("kind", ["backward", "return"])
def test_no_other_problem_lets_a_verdict_without_a_call_through(kind):
    assert told(kind, "accepts this version") == []
