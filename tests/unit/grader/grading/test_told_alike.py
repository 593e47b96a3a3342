"""What a check tells in a notebook it tells in grading, too, where the code runs elsewhere."""

import json

import pytest

from grader.authoring.notebook import source_notebook
from grader.grading.pipeline import grade_all
from grader.grading.reading import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool
from tests.course.lesson_runs import all_lessons

pytestmark = pytest.mark.usefixtures("one_fork_server")
LESSON = all_lessons()["02_attention"]
ZEROED = """def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    if mask is not None:
        weights[~mask] = 0
    return torch.einsum("bs,bsd->bd", weights, values), weights
"""
SILENT = """def test_attention(attention):
    q, k, v = torch.ones(1, 2, 4), torch.ones(1, 3, 4), torch.ones(1, 3, 5)
    output, weights = attention(q, k, v)
    assert (weights.sum() == 7, "rows")
"""


@pytest.fixture(scope="module")
def told():
    """Grade a notebook with both answers; exercise -> its verdict."""
    notebook = json.loads(json.dumps(source_notebook(LESSON)))
    answers = {"attend": ZEROED, "test_attention": SILENT}
    for cell in notebook["cells"]:
        cell["source"] = answers.get(cell.get("id"), cell["source"])
    with Pool(1, Limits(wall_seconds=600, cpu_seconds=600)) as pool:
        ((_, outcome),) = grade_all([Item(json.dumps(notebook).encode(), LESSON)], pool)
    return {result.exercise: result.verdict for result in outcome.results}


def test_a_write_into_softmaxs_result_is_told_with_its_line_in_grading(told):
    finding = told["attend"].first_failure.finding
    assert "`softmax` keeps a tensor for backward()" in finding.message
    assert finding.line == "weights[~mask] = 0"
    assert "torch.where" in told["attend"].mistake.hint


def test_an_assert_of_a_tuple_is_told_in_grading(told):
    assert "it never raised anything" in told["test_attention"].mistake.message
    assert "`assert (a, b)` never fails" in told["test_attention"].mistake.hint
