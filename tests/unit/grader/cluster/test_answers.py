import json

import pytest

from grader.cluster.answers import read_answer
from grader.cluster.outcome_data import write_outcome
from grader.judging.outcome import Status, without_run
from grader.workers.protocol import WireError
from tests.course.lesson_runs import all_lessons

LESSON = all_lessons()["00_start_here"]
OUTCOME = without_run(LESSON, Status.CRASHED, "it ended")
GOOD = {"position": 1, "outcome": write_outcome(OUTCOME)}


def answer(*told, **more):
    return json.dumps({"worker": "tcp://w:1", "answers": list(told)} | more).encode()


def test_outcomes_are_read_by_their_place_in_the_batch():
    found = read_answer(answer(GOOD), [LESSON, LESSON])
    assert (found.worker, found.outcomes) == ("tcp://w:1", {1: OUTCOME})


def test_what_ended_a_batch_is_told_beside_what_was_graded_before():
    found = read_answer(answer(GOOD, {"lost": "it ended"}), [LESSON, LESSON])
    assert (set(found.outcomes), found.lost) == ({1}, "it ended")


def test_refusals_and_failures_are_read():
    found = read_answer(answer({"refused": {"torch": "1"}}, {"failed": "no disk"}), [LESSON])
    assert (found.refused, found.failed, found.outcomes) == ({"torch": "1"}, "no disk", {})


BAD = {
    "no JSON": b"no",
    "a list": b"[]",
    "no worker": b'{"answers": []}',
    "a place beyond the batch": answer(GOOD | {"position": 2}),
    "a place below it": answer(GOOD | {"position": -1}),
    "a place that is no number": answer(GOOD | {"position": True}),
    "a place twice": answer(GOOD, GOOD),
    "no outcome": answer(GOOD | {"outcome": {}}),
    "another thing": answer({"score": 4}),
    "no object": answer(3),
    "deep nesting": b"[" * 100_000,
}


@pytest.mark.parametrize("raw", BAD.values(), ids=BAD)
def test_what_is_no_answer_to_the_batch_is_refused(raw):
    with pytest.raises(WireError):
        read_answer(raw, [LESSON, LESSON])
