"""A failed verdict in a notebook says something, whatever is known of the answer."""

import pytest
import torch

from utils.checks.api import ExerciseCheck
from utils.checks.compare.compare import Finding
from utils.checks.exercise import case
from utils.checks.explain.seen.errors_explained import usual_cause
from utils.checks.live.next_step import with_a_next_step
from utils.checks.observation import Problem, ProblemKind
from utils.checks.registry import find_exercise
from utils.checks.render import as_html, as_text
from utils.checks.verdict import CaseResult, Verdict


def odd(x, dim=-1):
    raise OSError("the moon is full")


def shown(monkeypatch, exercise, answer):
    """The verdict that a notebook shows."""
    seen: list[Verdict] = []
    monkeypatch.setattr("utils.checks.api.show", seen.append)
    ExerciseCheck(find_exercise(exercise))(answer)
    return seen[0]


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("stable_softmax", odd),
        ("stable_softmax", lambda x, dim=-1: torch.sin(x * 1.7) + x.flip(dim) ** 3),
        ("predict_score_spread", 1234.5),
        ("predict_score_spread", -1.0),
    ],
)
def test_no_failed_verdict_is_without_a_sentence(monkeypatch, exercise, answer):
    verdict = shown(monkeypatch, exercise, answer)
    assert not verdict.passed
    assert verdict.mistake is not None or verdict.symptoms


@pytest.mark.parametrize("kind", ["exception", "backward", "values", "shape", "gradient"])
@pytest.mark.parametrize("exercise", ["stable_softmax", "predict_score_spread", "test_attention"])
def test_each_kind_of_finding_has_its_next_step(kind, exercise):
    finding = Finding(ProblemKind(kind), "y", "It differs.")
    verdict = Verdict(exercise, (CaseResult(case("one"), finding),))
    (says,) = with_a_next_step(find_exercise(exercise), verdict).symptoms
    assert says.endswith((".", "?"))


def test_what_is_explained_is_left_as_it_is():
    verdict = Verdict(
        "stable_softmax",
        (CaseResult(case("one"), Finding(ProblemKind.VALUES, "y", "It differs.")),),
        symptoms=("Known.",),
    )
    assert with_a_next_step(find_exercise("stable_softmax"), verdict) is verdict


@pytest.mark.parametrize(
    ("words", "line", "told"),
    [
        ("AssertionError: Torch not compiled with CUDA enabled", "x.cuda()", "a GPU"),
        ("RuntimeError: Found no NVIDIA driver on your system", "x.to('cuda')", "a GPU"),
        ("AssertionError: embed_dim must be divisible", "nn.MultiheadAttention(5, 2)", "refuses"),
        ("AssertionError: ", "assert x.dim() == 2", "An `assert` stopped the call"),
        ("SystemExit: 3", "sys.exit(3)", "write `return`"),
        ("RecursionError: maximum recursion depth exceeded", "return f(x)", "calls itself"),
        ("MemoryError: ", "x = [0] * 10**12", "more memory"),
        ("TypeError: 'int' object is not callable", "x.shape(1)", "A value of type int is called"),
    ],
)
def test_an_error_is_told_by_what_causes_it(words, line, told):
    assert told in usual_cause(Problem(ProblemKind.EXCEPTION, words, line))


def unwritten(*_args):
    raise NotImplementedError("it is not written yet")


@pytest.mark.parametrize("exercise", ["stable_softmax", "test_attention"])
def test_an_exercise_that_is_not_written_says_what_to_run(monkeypatch, exercise):
    verdict = shown(monkeypatch, exercise, unwritten)
    assert verdict.is_stub
    for says in (as_text(verdict), as_html(verdict)):
        assert says.count("not written yet") == 1
        assert "run that cell (Shift+Enter), then this one" in says
        assert "Written already? Then its cell has not run since." in says
        assert "What was seen" not in says
