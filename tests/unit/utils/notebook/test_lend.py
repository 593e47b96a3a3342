"""A stuck exercise is lent, in a real kernel, and never while grading."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.course.lesson_runs import exercise_ids
from utils.checks.case_results import judge_case
from utils.checks.observe.expected import with_facts
from utils.checks.observe.observe import observe
from utils.checks.registry import find_exercise
from utils.kernel import runs
from utils.notebook import lend as lending

START = "import torch\nfrom utils.checks import check\nfrom utils.notebook.lend import lend"
WRONG = "def split_heads(x, n_heads):\n    return x"
USE = "print(tuple(split_heads(torch.zeros(1, 5, 6), 2).shape))"


def texts(cells, tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    path = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, kernel_name="python3", resources=path).execute()
    return [
        "".join(o.get("text") or o["data"]["text/plain"] for o in cell.outputs)
        for cell in notebook.cells
    ]


def test_a_lesson_goes_on_with_the_lent_part_and_says_whose_it_is(tmp_path):
    checked = "check.split_heads(split_heads)"
    right = (
        "def split_heads(x, n_heads):\n"
        "    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)\n" + checked
    )
    shown = texts(
        [START, WRONG, *[checked] * 3, USE, 'lend("split_heads")', USE, checked, right, USE],
        tmp_path,
    )
    assert 'lend("split_heads")' not in shown[3]
    assert 'lend("split_heads")' in shown[4]
    assert shown[5].endswith("(1, 5, 6)\n")
    assert "Your split_heads is not right yet" in shown[5]
    assert "the course's" in shown[6]
    assert shown[7] == "(1, 2, 5, 3)\n"
    assert "lent to you" in shown[8]
    assert "all 7 cases pass" in shown[9]
    assert shown[10] == "(1, 2, 5, 3)\n"


@pytest.mark.parametrize("variable", runs.GRADING)
def test_nothing_is_lent_while_grading(monkeypatch, capsys, variable):
    monkeypatch.setenv(variable, "1")
    lending.lend("split_heads")
    assert "not while grading" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "words"),
    [("splitheads", "Nothing is called 'splitheads'"), ("test_attention", "is not lent")],
)
def test_what_cannot_be_lent_is_said(capsys, name, words):
    lending.lend(name)
    assert words in capsys.readouterr().out


@pytest.mark.parametrize("name", [e for e in exercise_ids() if find_exercise(e).probe.is_lendable])
def test_what_is_lent_is_right(name):
    exercise = find_exercise(name)
    part = lending._part(name)
    for case in exercise.probe.cases:
        seen = with_facts(exercise, case, observe(exercise.probe, case, part, trusted=True))
        assert judge_case(exercise, case, seen) is None
