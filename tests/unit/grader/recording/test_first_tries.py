"""First tries: what a student had right at first, through resubmissions and changed lessons."""

import json
from dataclasses import replace

from grader.course.graded_copies import FirstTry, read_copy
from grader.judging.outcome import Status
from grader.pages.reports import write_reports
from grader.recording.first_tries import first_tries
from grader.recording.graded import Graded
from grader.recording.recording import record
from tests.unit.grader.pages.graded_class import (
    LESSON,
    outcome,
    right,
    stub,
    wrong,
)

ATTEND, MASK = "scaled_dot_product_attention", "padding_mask"


def test_a_second_hand_in_does_not_change_the_first_try():
    first = first_tries({}, outcome(padding_mask=wrong), "a")
    second = first_tries(first, outcome(), "b")
    assert second[MASK] == FirstTry("a", 0.0)
    assert second == first


def test_what_is_not_written_yet_is_no_try():
    first = first_tries({}, outcome(padding_mask=stub), "a")
    assert MASK not in first
    assert first_tries(first, outcome(), "b")[MASK] == FirstTry("b", 1.0)


def test_the_same_hand_in_judged_anew_replaces_its_own_first_try_alone():
    first = first_tries({}, outcome(padding_mask=stub), "a")
    second = first_tries(first, outcome(), "b")
    again = first_tries(second, outcome(**{MASK: wrong, ATTEND: wrong}), "b")
    assert (again[MASK], again[ATTEND]) == (FirstTry("b", 0.0), FirstTry("a", 1.0))


def test_a_failure_of_the_grader_is_no_try():
    assert first_tries({}, outcome(Status.GRADER_ERROR), "a") == {}


def test_an_exercise_that_was_not_judged_is_no_try():
    found = outcome()
    unjudged = replace(found, results=tuple(replace(r, verdict=None) for r in found.results))
    assert first_tries({}, unjudged, "a") == {}


def test_a_class_that_hands_in_again_is_reported_by_its_first_tries(made):
    """Three of four get it right in the end; one did at first."""
    attempts = {
        "ada": [right],
        "ben": [wrong, right],
        "cleo": [stub, wrong, right],
        "dan": [wrong, wrong],
    }
    for student, several in attempts.items():
        for number, how in enumerate(several):
            data = json.dumps({"cells": [], "number": number}).encode()
            hand_in = Graded(student, made.lesson, data, outcome(**{ATTEND: how}), "")
            record(made.course, [hand_in])
    copy = read_copy(made.course.folder, "cleo", LESSON)
    assert copy is not None
    assert copy.first_tries[ATTEND].share == 0.0
    path, _ = write_reports(made.course, [made.lesson], made.course.book())
    assert f"<code>{ATTEND}</code> (25% of 4)" in path.read_text(encoding="utf-8")
