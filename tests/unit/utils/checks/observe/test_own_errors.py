"""An error of the check's own code is planted in each stage, and reaches no student as theirs."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

import utils
from utils.checks import api, check
from utils.checks.api import ExerciseCheck
from utils.checks.authoring import swapping
from utils.checks.case_results import points_alone
from utils.checks.observe import expected
from utils.checks.observe import observe as observing
from utils.checks.registry import exercises
from utils.checks.render import as_text

ERRORS = [ValueError, RuntimeError, TypeError, AssertionError, KeyError]
THEIRS = ("in your line", "usually means", "Where to look", "What was seen")


# Code that stands in a file of the course's, as far as a traceback tells.
PLANTED = """
class Planted:
    def __init__(self, error):
        self.error = error

    def __call__(self, *_args, **_options):
        raise self.error("planted")

def calling_first(error):
    def call(answer, inputs):
        answer(inputs["scores"], inputs["values"], inputs["mask"])
        raise error("planted")

    return call

def twice(module, *_args):
    return functional_call(module, [{"x": 1}, {"x": 2}], ())
"""
OURS = {"functional_call": torch.func.functional_call}
exec(compile(PLANTED, str(Path(utils.__file__).with_name("planted.py")), "exec"), OURS)
Planted, calling_first, twice = OURS["Planted"], OURS["calling_first"], OURS["twice"]


def attend(scores, values, mask=None):
    """Answer rightly, but for a row with nothing allowed."""
    scores = scores if mask is None else scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    return torch.einsum("bs,bsd->bd", weights, values), weights


@pytest.fixture(autouse=True)
def _oracle_is_known():
    """Let the oracle answer before anything is planted, and forget what is seen after that."""
    expected.forget()
    check.attend.verdict(attend)
    yield
    expected.forget()


def checked(**changes):
    """Return the check of `attend` with another probe."""
    known = exercises()["attend"]
    return ExerciseCheck(replace(known, probe=replace(known.probe, **changes)))


def is_owned(text):
    return "The check itself stopped" in text and not any(words in text for words in THEIRS)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("points", [None, 3.0])
@pytest.mark.parametrize("stage", ["inputs", "call", "after the call"])
def test_an_error_while_an_answer_is_questioned_is_the_checks(stage, points, error):
    changes = {
        "inputs": {"inputs": Planted(error)},
        "call": {"call": Planted(error)},
        "after the call": {"call": calling_first(error)},
    }[stage]
    verdict = checked(**changes).verdict(attend, points=points)
    assert is_owned(as_text(verdict))
    assert "planted" in as_text(verdict)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("stage", ["plain", "_weighted_sum", "_gradients", "_seen", "_leaves"])
def test_an_error_while_results_and_gradients_are_read_is_the_checks(monkeypatch, stage, error):
    monkeypatch.setattr(observing, stage, Planted(error))
    assert is_owned(as_text(check.attend.verdict(attend)))


def test_an_error_in_torchs_code_that_the_check_calls_is_the_checks(monkeypatch):
    class SelfAttention(nn.Module):
        def __init__(self, d_model, d_k, d_v):
            super().__init__()
            self.w_q, self.w_k = (nn.Linear(d_model, d_k, bias=False) for _ in range(2))
            self.w_v = nn.Linear(d_model, d_v, bias=False)

        def forward(self, x, mask=None):
            return x, x @ x.mT

    check.SelfAttention.verdict(SelfAttention)
    monkeypatch.setattr(swapping, "_swapped", twice)
    text = as_text(check.SelfAttention.verdict(SelfAttention))
    assert "appeared in multiple dictionaries" in text
    assert is_owned(text)


@pytest.mark.parametrize("error", ERRORS[:2])
@pytest.mark.parametrize("stage", ["OwnObject", "judge"])
def test_an_error_while_a_cause_is_sought_costs_no_points_and_is_the_checks(
    monkeypatch, capsys, stage, error
):
    right = check.attend.verdict(attend)
    monkeypatch.setattr(api, stage, Planted(error))
    verdict = check.attend.verdict(attend)
    assert verdict.earned == right.earned
    assert [note for note in verdict.notes if "The check itself stopped" in note.says]
    check.attend(attend)
    assert "Traceback" not in capsys.readouterr().out


@pytest.mark.parametrize("error", ERRORS[:2])
@pytest.mark.parametrize("stage", ["settle", "is_lent", "show", "record_check", "note_try"])
def test_an_error_while_a_verdict_is_shown_and_kept_is_the_checks(
    monkeypatch, capsys, stage, error
):
    monkeypatch.setattr(api, stage, Planted(error))
    check.attend(attend)
    assert "The check itself stopped with an error, which is no fault" in capsys.readouterr().out


@pytest.mark.parametrize("part", ["oracle", "facts"])
def test_an_error_of_what_knows_the_right_answer_is_the_checks(capsys, part):
    broken = replace(exercises()["attend"], **{part: Planted(RuntimeError)})
    broken = replace(broken, probe=replace(broken.probe, cases=broken.probe.cases[:1]))
    expected_anew = replace(broken.probe, exercise=f"attend without {part}")
    ExerciseCheck(replace(broken, probe=expected_anew))(attend)
    out = capsys.readouterr().out
    assert "The check itself stopped with an error, which is no fault" in out
    assert not any(words in out for words in THEIRS)


class Short(nn.Module):
    def forward(self, x):
        return x


def two(scores, values):
    return scores, values


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("attend", two),
        ("attend", lambda scores, values, mask: scores.nothing),
        ("attend", lambda scores, values, mask: None),
        ("attend", torch.softmax),
        ("FeedForward", Short),
        ("FeedForward", nn.Sequential),
        ("attend", None),
        ("attend", 3),
    ],
)
def test_what_a_student_causes_is_not_called_the_checks(exercise, answer):
    assert "The check itself" not in as_text(getattr(check, exercise).verdict(answer))


def test_points_of_an_answer_do_not_depend_on_a_cause_that_cannot_be_sought(monkeypatch):
    known = exercises()["attend"]
    seen = observing.observe_all(known.probe, known.probe.cases, attend, quiet=True)
    monkeypatch.setattr(api, "judge", Planted(ValueError))
    graded = check.attend.verdict(attend, points=3.0)
    assert graded.score == points_alone(known, known.probe.cases, seen, 3.0).score
