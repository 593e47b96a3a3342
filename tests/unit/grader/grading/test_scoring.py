"""What a verdict tells a student of the cases that are hidden from them."""

import pytest

from grader.grading.plan import cases_of
from grader.grading.scoring import judge_submission
from grader.sandbox import Ended
from grader.workers.protocol import Message, encode
from tests.course.lesson_runs import lesson_of
from utils.checks.framework.observation import Observation, Problem
from utils.checks.framework.observe import observe
from utils.checks.framework.render import as_mimebundle, as_text
from utils.checks.framework.verdict import Verdict
from utils.checks.registry import exercises, probes

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
    pages = as_mimebundle(found)
    assert not any("4.25" in text for text in pages.values())
    assert "raise it" in pages["text/html"]
    assert ("ValueError" in pages["text/html"]) == (name == "ValueError")


def test_an_error_in_a_visible_case_is_told_with_its_message():
    found = verdict(Problem("exception", "ValueError: 4.25", "raise it"), hidden=False)
    assert "ValueError: 4.25" in as_text(found)


@pytest.mark.parametrize(("hidden", "quoted"), [(True, False), (False, True)])
def test_symptoms_quote_an_error_in_visible_cases_only(hidden, quoted):
    found = verdict(Problem("exception", "KeyError: 4.25", ""), hidden=hidden)
    assert any("4.25" in text for text in as_mimebundle(found).values()) == quoted
    assert bool(found.symptoms) == quoted
