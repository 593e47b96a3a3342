"""A student's test that never raises is told so, and which of the usual causes its code has."""

import pytest

from grader.judging.scoring import judge_submission
from grader.reading.plan import cases_of
from grader.sandbox import Ended
from grader.workers.protocol import Message, encode
from tests.course.lesson_runs import lesson_of
from tests.unit.utils.checks.observe.students_cell import written
from utils.checks import check
from utils.checks.observe.observe import observe_all
from utils.checks.registry import probes
from utils.checks.verdict import Verdict

HEAD = """
def test_attention(attention):
    q, k, v = torch.randn(1, 2, 4), torch.randn(1, 3, 4), torch.randn(1, 3, 5)
    mask = torch.tensor([[[True, True, False]]])
    output, weights = attention(q, k, v, mask)
    rows, blocked = weights.sum(-1), weights[..., 2]
"""
HELPER = "\n\ndef helper(weights):\n"
SUMS = "torch.allclose(rows, torch.ones(1, 2))"
# What is written after the head -> what is told.
SILENT = {
    f"assert ({SUMS}, 'rows must sum to one')": "`assert (a, b)` never fails",
    f"assert ({SUMS}, 'rows'), 'more'": "`assert (a, b)` never fails",
    SUMS: "A comparison stands on a line of its own",
    "(blocked == 0).all()": "A comparison stands on a line of its own",
    "blocked.sum() == 0 and rows.sum() == 2": "A comparison stands on a line of its own",
    "not blocked.any()": "A comparison stands on a line of its own",
    f"return {SUMS}": "It returns an outcome",
    "return blocked.sum() == 0": "It returns an outcome",
    f"ok = {SUMS}\n    return ok": "It returns an outcome",
    "if blocked.any():\n        return False\n    return True": "It returns an outcome",
    "try:\n        assert not blocked.any() and False\n    except AssertionError:\n"
    "        print('wrong')": "It catches AssertionError itself",
    "try:\n        assert rows.sum() == 7\n    except Exception as error:\n"
    "        print(error)": "It catches AssertionError itself",
    "try:\n        assert rows.sum() == 7\n    except:\n        pass": "It catches AssertionError",
    "import contextlib\n    with contextlib.suppress(AssertionError):\n"
    "        assert rows.sum() == 7": "It catches AssertionError itself",
    "print('rows sum to one:', rows)": "It only prints",
    f"if {SUMS}:\n        print('right')\n    else:\n        print('wrong')": "It only prints",
    f"right = {SUMS}": "It keeps an outcome under a name",
    "return": "There is no `assert` in it",
    "assert 'rows sum to one'": "It asserts what is true whatever comes back",
    "assert [rows.sum() == 7]": "It asserts what is true whatever comes back",
    "assert rows.sum() == 7 or True": "It asserts what is true whatever comes back",
    "assert torch.equal(output, output)": "It compares a value with itself",
    "assert output.equal(output)": "It compares a value with itself",
    "assert (weights.shape == weights.shape)": "It compares a value with itself",
    "yield\n    assert rows.sum() == 7": "`yield` or `async` keeps its lines from running",
    "def holds():\n        assert rows.sum() == 7": "in a function inside it that is never called",
    "return None\n    assert rows.sum() == 7": "A `return` ends it before",
    f"helper(weights){HELPER}    assert (weights.sum() == 7, 'r')": "`assert (a, b)` never fails",
    f"helper(weights){HELPER}    print(weights)": "It only prints",
}  # fmt: skip
TOLD = sorted(set(SILENT.values()))


def in_a_notebook(source):
    return written(source, "test_attention")


def in_grading(source):
    """Judge as a trusted process does, which has messages and the notebook's cells alone."""
    lesson = lesson_of("test_attention")
    cases = cases_of(lesson, "test_attention")
    seen = observe_all(probes()["test_attention"], cases, in_a_notebook(source), quiet=True)
    messages = [encode(Message("test_attention", n, one)) for n, one in enumerate(seen)]
    ended = Ended("finished", 0, None, tuple(messages), 0.1, 0.1, 0, "")
    outcome = judge_submission(lesson, ended, {}, [], ["import torch", source, "print(assert_)"])
    return next(r.verdict for r in outcome.results if r.exercise == "test_attention")


def told(verdict: Verdict | None):
    assert verdict is not None
    assert verdict.mistake is not None
    assert "it never raised anything" in verdict.mistake.message
    return verdict.mistake.hint


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("lines", SILENT)
def test_a_test_that_never_fails_is_told_why_in_a_notebook_and_in_grading(lines):
    source = f"{HEAD}    {lines}\n"
    hints = told(check.test_attention.verdict(in_a_notebook(source))), told(in_grading(source))
    assert hints[0] == hints[1]
    assert SILENT[lines] in hints[0]
    assert "same shapes" not in hints[0]


def test_a_test_that_asserts_too_little_is_told_no_such_cause():
    hint = told(
        check.test_attention.verdict(in_a_notebook(f"{HEAD}    assert rows.shape == (1, 2)\n"))
    )
    assert "same shapes" in hint
    assert not any(text in hint for text in TOLD)


def test_a_test_that_finds_a_broken_version_is_told_nothing_of_what_it_returns():
    source = f"{HEAD}    assert not blocked.any()\n    return rows.sum() == 2\n"
    verdict = check.test_attention.verdict(in_a_notebook(source))
    assert verdict.mistake is not None
    assert not any(text in verdict.mistake.message + verdict.mistake.hint for text in TOLD)
