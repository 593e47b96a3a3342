"""Shortcuts that somebody plainly writes are named, and right answers never are."""

import inspect
import textwrap

import pytest

from grader.authoring.notebook import source_notebook
from grader.grading.reading import ruled_out
from grader.static_analysis.shortcuts import shortcuts_in
from grader.static_analysis.unusual import MOST, unusual
from tests.course.lesson_runs import all_lessons
from tests.course.right_forms import RIGHT_FORMS
from utils.checks.registry import probes

HEAD = """
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from utils.checks import check
"""
NAME = "scaled_dot_product_attention"


def named(*cells, exercise=NAME):
    return shortcuts_in([HEAD, *cells], {exercise: ruled_out(exercise)}).get(exercise, "")


def answer(body):
    return f"def scaled_dot_product_attention(q, k, v, mask=None):\n    {body}\n"


SHORTCUTS = {
    "called by its full name": [answer("return torch.nn.functional.scaled_dot_product_attention(q, k, v)")],
    "called through an alias of the module": [answer("return F.scaled_dot_product_attention(q, k, v)")],
    "imported under another name": ["from torch.nn.functional import scaled_dot_product_attention as f", answer("return f(q, k, v)")],
    "imported inside the function": [answer("from torch.nn.functional import scaled_dot_product_attention as f; return f(q, k, v)")],
    "imported as the answer": ["from torch.nn.functional import scaled_dot_product_attention"],
    "another cell's variable": ["quick = F.scaled_dot_product_attention", answer("return quick(q, k, v)")],
    "a variable two steps away": ["a = F.scaled_dot_product_attention", "b = [a]", answer("return b[0](q, k, v)")],
    "an operator": [answer("return torch.ops.aten.scaled_dot_product_attention(q, k, v)")],
    "a module that contains it": [answer("return nn.MultiheadAttention(4, 1)(q, k, v)")],
    "a subclass": ["class Mine(nn.MultiheadAttention):\n    pass", answer("return Mine(4, 1)(q, k, v)")],
    "the course's stand-in": ["from utils.reference.modules import scaled_dot_product_attention as own", answer("return own(q, k, v, mask)")],
}  # fmt: skip
RIGHT = {
    "the formula": [answer("return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) @ v")],
    "a helper in another cell": ["def norm(s):\n    return F.softmax(s, dim=-1)", answer("return norm(q @ k.mT) @ v")],
    "comparing with torch in a scratch cell": [answer("return q"), "print(F.scaled_dot_product_attention(q, q, q))"],
    "a cell that does not parse": ["def broken(:\n    F.scaled_dot_product_attention", answer("return q")],
    "a method of the same name on self": ["class A:\n    def softmax(self): return self.scaled_dot_product_attention", answer("return A().softmax()")],
}  # fmt: skip


@pytest.mark.parametrize("cells", SHORTCUTS.values(), ids=SHORTCUTS)
def test_a_shortcut_is_named(cells):
    assert "does what this exercise asks you to build" in named(*cells)


@pytest.mark.parametrize("cells", RIGHT.values(), ids=RIGHT)
def test_in_a_right_answer_nothing_is_named(cells):
    assert not named(*cells)


def test_the_sentence_names_the_shortcut_by_its_whole_path():
    said = named(answer("return F.scaled_dot_product_attention(q, k, v)"))
    assert said.startswith("`torch.nn.functional.scaled_dot_product_attention` does what")


def test_a_method_that_an_exercise_rules_out_is_named():
    assert named(
        "def stable_softmax(x, dim=-1):\n    return x.softmax(dim)", exercise="stable_softmax"
    )


def test_where_reading_fails_nothing_is_named_and_nothing_is_unusual(monkeypatch):
    def fails(*_: object) -> None:
        raise RecursionError

    for module in ("program", "unusual"):
        monkeypatch.setattr(f"grader.static_analysis.{module}.statements", fails)
    cell = "import sys  # read for the first time\n" + answer(
        "return nn.MultiheadAttention(4, 1)(q, k, v)"
    )
    assert (named(cell), unusual([cell])) == ("", ())


def test_what_a_stand_in_replaces_is_not_read():
    early = answer("return F.scaled_dot_product_attention(q, k, v)")
    late = "class MultiHeadAttention(nn.Module):\n    def forward(self, q):\n        return scaled_dot_product_attention(q, q, q)"
    assert not named(early, late, exercise="MultiHeadAttention")


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_in_the_solution_of_a_lesson_nothing_is_named_or_unusual(lesson):
    cells = source_notebook(lesson)["cells"]
    sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    forbidden = {exercise.id: ruled_out(exercise.id) for exercise in lesson.exercises}
    assert shortcuts_in(sources, forbidden) == {}
    assert unusual(sources) == ()


FORMS = [
    pytest.param(name, form, id=f"{name}: {form.__name__}")
    for name, forms in RIGHT_FORMS.items()
    if name in probes()
    for form in forms
    if inspect.isfunction(form) or inspect.isclass(form)
]


@pytest.mark.parametrize(("exercise", "form"), FORMS)
def test_in_no_other_right_form_anything_is_named(exercise, form):
    source = textwrap.dedent(inspect.getsource(form)).replace(form.__name__, exercise, 1)
    assert not named(source, exercise=exercise)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import sys\nsys.modules", "sys"),
        ("import torch\nf = torch._refs.gelu", "torch._refs"),
        ("from torch import _refs", "torch._refs"),
        ("eval('1')", "eval"),
        ("f().__globals__", ".__globals__"),
        ("from utils.reference.modules import LayerNorm", "utils.reference.modules.LayerNorm"),
    ],
)
def test_what_no_lesson_asks_for_is_shown_to_instructors(source, found):
    assert unusual([source]) == (found,)


def test_of_many_unusual_things_the_first_are_shown_once_each():
    source = "\n".join(f"import a{n % 9}" for n in range(20))
    assert unusual([source]) == tuple(f"a{n}" for n in range(MOST))
