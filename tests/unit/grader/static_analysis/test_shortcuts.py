"""Shortcuts that somebody plainly writes are named, and right answers never are."""

import inspect
import textwrap

import pytest

from grader.authoring.notebook import source_notebook
from grader.reading.prepared import ruled_out
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


FORMULA = "    e = (x - x.amax(dim, keepdim=True)).exp()\n    "
OWN_SOFTMAX = "def softmax(x, dim):\n" + FORMULA + "return e / e.sum(dim, keepdim=True)\n"
HEADED = "def stable_softmax(x, dim=-1):\n    "
# Names that torch has as well, and that are the student's own here.
OWN = {
    "a variable": ["def stable_softmax(x, dim=-1):\n" + FORMULA + "softmax = e / e.sum(dim, keepdim=True)\n    return softmax"],
    "a variable named like an import": ["from torch import softmax", "def stable_softmax(x, dim=-1):\n" + FORMULA + "softmax = e / e.sum(dim)\n    return softmax"],
    "a function": [OWN_SOFTMAX + HEADED + "return softmax(x, dim)"],
    "a function in the place of an import": ["from torch import softmax", OWN_SOFTMAX + HEADED + "return softmax(x, dim)"],
    "a function of another cell": ["def logsumexp(x, dim):\n    return x.exp().sum(dim).log()", HEADED + "return (x - logsumexp(x, dim)).exp()"],
    "a parameter": ["def by(softmax, x):\n    return softmax(x)", HEADED + "return by(lambda x: x.exp(), x)"],
    "a method": ["class M:\n    @staticmethod\n    def softmax(x): return x.exp()", HEADED + "return M.softmax(x)"],
    "a method of an object that is made there": ["class M:\n    def softmax(self, x): return x.exp()", HEADED + "return M().softmax(x)"],
    "a method of an object in a variable": ["class M:\n    def softmax(self, x): return x.exp()", HEADED + "m = M()\n    return m.softmax(x)"],
    "a function that a class holds": ["def f(x): return x.exp()\nclass M:\n    softmax: object = staticmethod(f)", HEADED + "return M().softmax(x)"],
    "an attribute of an object": ["class M: pass\nm = M()\nm.softmax = torch.exp", HEADED + "return m.softmax(x)"],
    "a field of an object": ["from types import SimpleNamespace\nm = SimpleNamespace(softmax=torch.exp)", HEADED + "return m.softmax(x)"],
    "a method of an object whose name begins like torch's": ["torchlike = M()", HEADED + "return torchlike.softmax(x)"],
}  # fmt: skip
METHODS = {
    "of a parameter": [HEADED + "return x.softmax(dim)"],
    "of a parameter whose name is a tensor elsewhere": ["x = torch.ones(3)", HEADED + "return x.softmax(dim)"],
    "of a variable": [HEADED + "shifted = x - x.max()\n    return shifted.softmax(dim)"],
    "into a variable of its name": [HEADED + "softmax = x.softmax(dim)\n    return softmax"],
    "of what is computed": [HEADED + "return (x - x.max()).softmax(dim)"],
    "of the class": [HEADED + "return Tensor.softmax(x, dim)"],
    "in a lambda": ["x = torch.ones(3)\nstable_softmax = lambda x, dim=-1: x.softmax(dim)"],
    "beside a variable of its name": ["softmax = 3", HEADED + "return x.softmax(dim)"],
}  # fmt: skip


@pytest.mark.parametrize("cells", OWN.values(), ids=OWN)
def test_what_has_a_name_of_torchs_and_is_the_students_own_is_not_named(cells):
    assert not named(*cells, exercise="stable_softmax")


@pytest.mark.parametrize("cells", METHODS.values(), ids=METHODS)
def test_a_method_of_a_tensor_is_named_whatever_the_tensor_is_called(cells):
    assert "softmax` does what this exercise" in named(*cells, exercise="stable_softmax")


def test_a_function_that_is_imported_and_called_by_its_bare_name_is_named():
    cells = "from torch import softmax", HEADED + "return softmax(x, dim)"
    assert named(*cells, exercise="stable_softmax").startswith("`torch.softmax` does what")


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
