"""What a graded copy says of itself."""

import json

import pytest

from grader.course.graded_copies import read_copy
from utils.checks.framework.exercise import Case, Mistake
from utils.checks.framework.mime import MIME
from utils.checks.framework.render import as_mimebundle
from utils.checks.framework.verdict import CaseResult, Finding, Verdict

ONE, TWO = Mistake("one", "It is one.", "Look."), Mistake("two", "It is two.", "Look again.")


def written(folder, verdict):
    """Write a graded copy with one test cell, as the graded notebook does."""
    cell = {
        "cell_type": "code",
        "metadata": {"nbgrader": {"grade": True}},
        "outputs": [{"output_type": "display_data", "data": as_mimebundle(verdict)}],
    }
    path = folder / "autograded" / "ada" / "02_attention" / "02_attention.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": [cell], "metadata": {}}))


def test_both_mistakes_of_a_verdict_are_read(tmp_path):
    results = (CaseResult(Case("a"), Finding("values", "", "differs")),)
    written(tmp_path, Verdict("attend", results, ONE, TWO, points=3))
    named = read_copy(tmp_path, "ada", "02_attention").mistakes
    assert [(n.exercise, n.mistake, n.message) for n in named] == [
        ("attend", "one", "It is one."),
        ("attend", "two", "It is two."),
    ]


def test_a_verdict_without_a_named_mistake_names_none(tmp_path):
    results = (CaseResult(Case("a"), Finding("values", "", "differs")),)
    written(tmp_path, Verdict("attend", results, points=3))
    assert read_copy(tmp_path, "ada", "02_attention").mistakes == ()


ODD = [
    [1], "x", {"status": 3, "notes": 5, "judged_by": [1], "submission": {}},
    {"first_tries": {"attend": ["x", 10**400]}}, {"first_tries": {"attend": ["x", -1]}},
    {"first_tries": {"attend": ["x", float("nan")]}}, {"notes": [1, None], "judged_by": {"a": 1}},
]  # fmt: skip


@pytest.mark.parametrize("about", ODD, ids=lambda about: str(about)[:40])
@pytest.mark.parametrize("verdict", ["{", "[" * 10**5, 3, None, '{"points": 1, "mistake": [1]}'])
def test_what_is_odd_in_a_copy_counts_as_nothing(tmp_path, about, verdict):
    outputs = [3, {"data": 3}, {"data": {MIME: verdict}}]
    odd = [{"metadata": {"nbgrader": {"grade": True}}, "outputs": outputs}, 3, {"metadata": 3}]
    path = tmp_path / "autograded" / "ada" / "02_attention" / "02_attention.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": odd, "metadata": {"course_outcome": about}}))
    copy = read_copy(tmp_path, "ada", "02_attention")
    assert copy is not None
    assert (copy.status, copy.submission, copy.notes) == ("graded", "", ())
    assert (copy.mistakes, copy.judged_by, copy.first_tries) == ((), {}, {})
