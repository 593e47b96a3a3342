"""What a check tells in a notebook it tells in grading, too, where the code runs elsewhere."""

import json

import pytest
import torch

from grader.authoring.notebook import source_notebook
from grader.judging.pipeline import grade_all
from grader.reading.prepared import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool
from tests.course.lesson_runs import all_lessons
from utils.checks import check

pytestmark = pytest.mark.usefixtures("one_fork_server")
ZEROED = """def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    if mask is not None:
        weights[~mask] = 0
    return torch.einsum("bs,bsd->bd", weights, values), weights
"""
# Its own backward() stumbles, inside the call.
OVERWRITTEN = """def gradient_through_time(x, h_0, w_x, w_h, b):
    h, states = h_0.detach().requires_grad_(), []
    for x_t in x.unbind(1):
        h = torch.tanh(x_t @ w_x.T + h @ w_h.T + b)
        states.append(h)
        h *= 1
    return torch.stack([g.norm() for g in torch.autograd.grad(h.sum(), states)])
"""
SILENT = """def test_attention(attention):
    q, k, v = torch.ones(1, 2, 4), torch.ones(1, 3, 4), torch.ones(1, 3, 5)
    output, weights = attention(q, k, v)
    assert (weights.sum() == 7, "rows")
"""


def with_answers(name, answers):
    """A solved lesson's notebook with other answers, as bytes, and the lesson."""
    lesson = all_lessons()[name]
    notebook = json.loads(json.dumps(source_notebook(lesson)))
    for cell in notebook["cells"]:
        cell["source"] = answers.get(cell.get("id"), cell["source"])
    return Item(json.dumps(notebook).encode(), lesson)


@pytest.fixture(scope="module")
def told():
    """Grade notebooks with these answers; exercise -> its verdict."""
    items = [
        with_answers("01_rnn_limits", {"gradient_through_time": OVERWRITTEN}),
        with_answers("02_attention", {"attend": ZEROED, "test_attention": SILENT}),
    ]
    with Pool(1, Limits(wall_seconds=600, cpu_seconds=600)) as pool:
        outcomes = [outcome for _, outcome in grade_all(items, pool)]
    return {r.exercise: r.verdict for outcome in outcomes for r in outcome.results}


def test_a_write_into_softmaxs_result_is_told_with_its_line_in_grading(told):
    finding = told["attend"].first_failure.finding
    assert "`softmax` keeps a tensor for backward()" in finding.message
    assert finding.line == "weights[~mask] = 0"
    assert "torch.where" in told["attend"].mistake.hint


def test_a_write_that_the_answers_own_backward_meets_is_told_alike_in_both(told):
    names = {"torch": torch}
    exec(OVERWRITTEN, names)
    here = check.gradient_through_time.verdict(names["gradient_through_time"])
    there = told["gradient_through_time"]
    assert there.first_failure.finding.line == "h *= 1"
    assert there.first_failure.finding.message == here.first_failure.finding.message
    assert (there.mistake, there.symptoms) == (here.mistake, here.symptoms)


def test_an_assert_of_a_tuple_is_told_in_grading(told):
    assert "it never raised anything" in told["test_attention"].mistake.message
    assert "`assert (a, b)` never fails" in told["test_attention"].mistake.hint
