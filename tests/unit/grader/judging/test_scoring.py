"""What a verdict tells a student of the cases that are hidden from them."""

import subprocess
import sys
from collections.abc import Collection

import numpy as np
import pytest

from grader.judging.scoring import OURS, judge_submission
from grader.reading.plan import cases_of
from grader.sandbox import Ended
from grader.workers.protocol import Message, encode
from tests.course.lesson_runs import ROOT, lesson_of
from utils.checks.observation import Observation, Problem, ProblemKind
from utils.checks.observe.observe import observe
from utils.checks.registry import exercises, probes
from utils.checks.render import as_mimebundle, as_text
from utils.checks.verdict import Verdict

EXERCISE = "scaled_dot_product_attention"
LESSON = lesson_of(EXERCISE)
CASES = cases_of(LESSON, EXERCISE)


def verdict(problem: Problem, *, hidden: bool) -> Verdict:
    return verdict_on(Observation(problem=problem), hidden=hidden)


def verdict_on(
    given: Observation, *, hidden: bool, lines: Collection[str] = ("raise it",)
) -> Verdict:
    """Judge answers that are right but in the hidden, or the visible, cases."""
    right = exercises()[EXERCISE].oracle
    seen = [
        given if case.hidden == hidden else observe(probes()[EXERCISE], case, right, trusted=True)
        for case in CASES
    ]
    messages = [encode(Message(EXERCISE, number, what)) for number, what in enumerate(seen)]
    ended = Ended("finished", 0, None, tuple(messages), 0.1, 0.1, 0, "")
    outcome = judge_submission(LESSON, ended, {}, [], lines)
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


@pytest.mark.parametrize("kind", [kind for kind in ProblemKind if kind not in OURS])
def test_no_kind_of_problem_shows_a_message_of_a_hidden_case(kind):
    found = verdict(Problem(kind, "4.25 is what I was asked", "x = 4.25"), hidden=True)
    assert not found.passed
    assert not any("4.25" in text for text in as_mimebundle(found).values())


@pytest.mark.parametrize(
    "output",
    [np.full((3, 2), 4.25, np.float32), {"4.25": 1.0}, [4.25], 4.25, "4.25", None],
)
def test_nothing_that_comes_back_in_a_hidden_case_is_shown(output):
    shown = verdict_on(Observation({"output": output, "weights": 4.25, "4.25": 4.25}), hidden=True)
    assert not shown.passed
    assert not any("4.25" in text for text in as_mimebundle(shown).values())
    told = verdict_on(Observation({"output": output, "weights": 4.25}), hidden=False)
    assert not told.passed


def test_the_shapes_of_a_hidden_case_are_shown():
    values = {"output": np.zeros((2, 9), np.float32), "weights": np.zeros((2, 9), np.float32)}
    shown = verdict_on(Observation(values), hidden=True)
    assert "expected shape" in as_text(shown)
    assert "got (2, 9)" in as_text(shown)


def test_a_line_that_the_notebook_does_not_hold_is_not_shown_of_a_hidden_case():
    failed = Observation(problem=Problem("exception", "ValueError: no", "x = 4.25"))
    assert "4.25" not in as_mimebundle(verdict_on(failed, hidden=True))["text/html"]
    own = verdict_on(failed, hidden=True, lines=["x = 4.25"])
    assert "4.25" in as_mimebundle(own)["text/html"]


def test_an_error_in_a_visible_case_is_told_with_its_message():
    found = verdict(Problem("exception", "ValueError: 4.25", "raise it"), hidden=False)
    assert "ValueError: 4.25" in as_text(found)


@pytest.mark.parametrize(("hidden", "quoted"), [(True, False), (False, True)])
def test_symptoms_quote_an_error_in_visible_cases_only(hidden, quoted):
    found = verdict(Problem("exception", "KeyError: 4.25", ""), hidden=hidden)
    assert any("4.25" in text for text in as_mimebundle(found).values()) == quoted
    assert bool(found.symptoms) == quoted


# One call of torch.func loads it: in the first check of an exercise as well, while a student waits.
JUDGING = """
import sys
from pathlib import Path
from grader.authoring.lesson import lessons
from grader.judging.scoring import expect
for lesson in lessons(Path(sys.argv[1])):
    expect(lesson)
    if "torch._dynamo" in sys.modules:
        sys.exit(lesson.name)
"""


def test_what_right_answers_give_is_computed_without_torchs_compiler():
    words = [sys.executable, "-W", "ignore", "-c", JUDGING, str(ROOT)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
