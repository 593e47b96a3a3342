"""What a verdict tells a student of the cases that are hidden from them."""

import pytest

from grader.engine.judging import judge_submission
from grader.engine.plan import cases_of
from grader.engine.wire import Message, encode
from grader.isolation import Ended
from tests.course.lesson_runs import lesson_of
from utils.checks.observation import Observation, Problem
from utils.checks.observe import observe
from utils.checks.registry import exercises, probes
from utils.checks.verdict import Verdict

EXERCISE = "scaled_dot_product_attention"
LESSON = lesson_of(EXERCISE)
CASES = cases_of(LESSON, EXERCISE)


def verdict(problem: Problem, *, hidden: bool) -> Verdict:
    """Judge answers that are right but in the hidden, or the visible, cases."""
    right = exercises()[EXERCISE].oracle
    seen = [
        Observation(problem=problem)
        if case.hidden == hidden
        else observe(probes()[EXERCISE], case, right, trusted=True)
        for case in CASES
    ]
    messages = [encode(Message(EXERCISE, number, what)) for number, what in enumerate(seen)]
    ended = Ended("finished", 0, None, tuple(messages), 0.1, 0.1, 0, "")
    outcome = judge_submission(LESSON, ended, {}, [])
    found = next(result.verdict for result in outcome.results if result.exercise == EXERCISE)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["ValueError", "AnErrorOfMyOwn", "tensor([4.25])"])
def test_an_error_in_a_hidden_case_is_told_without_its_message(name: str):
    found = verdict(Problem("exception", f"{name}: tensor([4.25])", "raise it"), hidden=True)
    pages = found._repr_mimebundle_()
    assert not any("4.25" in text for text in pages.values())
    assert "raise it" in pages["text/html"]
    assert ("ValueError" in pages["text/html"]) == (name == "ValueError")


def test_an_error_in_a_visible_case_is_told_with_its_message():
    found = verdict(Problem("exception", "ValueError: 4.25", "raise it"), hidden=False)
    assert "ValueError: 4.25" in repr(found)
