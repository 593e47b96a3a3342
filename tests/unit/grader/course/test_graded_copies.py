"""What a graded copy says of itself."""

import json

from grader.course.graded_copies import read_copy
from utils.checks.framework.exercise import Case, Mistake
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
