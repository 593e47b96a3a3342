"""A test that might remember is found by reading, whatever it remembers in; plain ones are not."""

import json
from abc import ABCMeta
from importlib import import_module
from types import ModuleType

import pytest

from grader.authoring.notebook import source_notebook
from grader.reading.plan import make_plan
from grader.reading.submission import read_submission
from grader.static_analysis import unusual
from grader.static_analysis.memory import PURE, may_remember
from tests.course.lesson_runs import all_lessons
from tests.course.other_hands import Form, forms

HEAD = """
import itertools
import math
import torch
import torch.nn.functional as F
from collections import Counter
from collections.abc import Callable
from torch import Tensor, nn
"""
BODY = """
    x = torch.ones(1, 1, 1)
    output, weights = attention(x, x, x)
    assert torch.allclose(output, x)
"""
PLAIN = "def test_attention(attention):" + BODY
TESTED = {"test_attention", "test_padding", "test_no_peeking"}
TESTS = [f for f in forms() if f.exercise in TESTED and f.is_right]
WITHIN = "\n    import "  # whatever it is, a module outlives the call: such a test is tried twice
RIGHT = [form for form in TESTS if WITHIN not in form.source]


def after(lines: str) -> str:
    """A test that does something else first."""
    return "def test_attention(attention):\n    " + lines + BODY


# What a test, or what stands beside it, could keep something in.
KEEPS = {
    "a list of the notebook": "seen = []\n" + after("seen.append(attention)"),
    "a list that a function within fills": "seen = []\n" + after("f = lambda: seen.append(1); f()"),
    "a global": "n = 0\n" + after("global n; n = 1"),
    "a default": PLAIN.replace("(attention)", "(attention, seen=[])", 1),
    "a default by name": PLAIN.replace("(attention)", "(attention, *, seen=[])", 1),
    "its own attribute": after("test_attention.seen = 1"),
    "a decorator": "def once(f): return f\n@once\n" + PLAIN,
    "a closure": """
def made():
    seen = []
    def test(attention):
        seen.append(1)
    return test
test_attention = made()
""",
    "an object that is called": "class Test:\n    def __call__(self, attention): self.seen = 1\n"
    "test_attention = Test()",
    "a method of a list": "test_attention = [].append",
    "a lambda": "test_attention = lambda attention: None",
    "one of two definitions": PLAIN + PLAIN,
    "a generator": after("yield"),
    "a helper of the notebook": "def near(a, b): return True\n" + after("near(1, 2)"),
    "a name within that hides one of the notebook": "seen = []\n"
    + after("f = lambda seen: seen; seen.append(f)").replace("seen.append", "len(seen), [].append"),
    "an attribute of torch": after("torch.seen = 1"),
    "a settings of torch's": after("torch.set_default_dtype(torch.float64)"),
    "torch by another name": after("t = torch; t.set_printoptions(3)"),
    "functions of torch by another name": after("f = F; f.relu.seen"),
    "what a function of torch's holds": after("torch.relu.max"),
    "a module that is not torch": "import utils as nn\n" + after("nn.max"),
    "a function's own names": after("torch.relu.__dict__"),
    "what memory held before": after("torch.empty(3)"),
    "what memory held before, by a tensor": after("torch.ones(1).new_empty(3)"),
    "an import within": after("import os"),
    "Python's own names": after("globals()"),
    "a module that no lesson uses": "import builtins\n" + PLAIN,
    "a name of Python's": "print = []\n" + after("print(1)"),
    "a name of torch's": "class torch: ones = []\n" + PLAIN,
    "torch as something else": "import utils.words as torch\n" + PLAIN,
    "all names of a module": "from math import *\n" + PLAIN,
    "a function of torch's that a cell replaced": "torch.allclose = print\n" + PLAIN,
    "a function of torch's that an answer replaced": "def f(): setattr(torch, 'ones', print)\n"
    + PLAIN,
    "a function of torch's in its table": "vars(torch)['ones'] = print\n" + PLAIN,
    "a tensor of another kind": "class T(Tensor):\n    def __torch_function__(self): ...\n" + PLAIN,
    "a name that a function sets": "def f():\n    global len\n    len = print\n" + PLAIN,
    "a module that another imports": "import typing\n" + after("typing.sys.modules['seen'] = 1"),
    "a module two modules away": "import typing\n" + after("typing.re.sys.modules['seen'] = 1"),
    "a module that itertools would import": after("itertools.sys.modules['seen'] = 1"),
    "a function's own module": after("math.sqrt.__self__.seen"),
    "a module by its own name": after("m = math; m.seen"),
    "what typing notes": "import typing\n" + after("typing.overload(lambda: 1)"),
    "what typing keeps of brackets": "from typing import Literal\n" + after("str(Literal[0.0])"),
    "what an abstract class registers": "from collections import UserDict\n"
    + after("d = UserDict; d.register(list)"),
    "what an abstract class notes": "from collections.abc import Sized\n"
    + after("s = Sized; s.register(int)"),
    "a name that an earlier import gave": "from matplotlib import rcParams as sqrt\n"
    + after("sqrt['seen'] = 1") + "\nfrom math import sqrt",
}  # fmt: skip
# On these the compiler, or Python's own readers of trees, give up: by depth, digits or rules.
UNREADABLE = {
    "a name given twice": PLAIN.replace("(attention)", "(attention, attention)", 1),
    "a walrus that takes a loop's name": after("[i := 0 for i in range(3)]"),
    "a name of an outer function that is none": after("nonlocal x"),
}
STRANGE = {
    "a number of thousands of digits": after("x = 0x" + "f" * 5000),
    "a sum of many terms": after("x = " + " + ".join(["0.1"] * 400)),
    "a sum of many names": after("x = 1; y = " + " + ".join(["x"] * 900)),
    "a chain of many calls": after("x = ''; y = x" + ".strip()" * 900),
    "many signs": after("x = " + "-" * 400 + "1"),
    "many functions in one another": after("y = " + "lambda: " * 80 + "1"),
}


@pytest.mark.parametrize("written", KEEPS.values(), ids=KEEPS)
def test_a_test_that_might_keep_something_may_remember(written: str) -> None:
    assert may_remember([HEAD, written], "test_attention")


@pytest.mark.parametrize("written", UNREADABLE.values(), ids=UNREADABLE)
def test_a_test_that_no_compiler_takes_may_remember(written: str) -> None:
    assert may_remember([HEAD, written], "test_attention")


@pytest.mark.parametrize("written", STRANGE.values(), ids=STRANGE)
def test_a_test_that_is_strange_but_keeps_nothing_is_read_to_its_end(written: str) -> None:
    assert not may_remember([HEAD, written], "test_attention")


@pytest.mark.parametrize("written", STRANGE.values(), ids=STRANGE)
def test_a_test_that_is_strange_and_keeps_something_may_remember(written: str) -> None:
    keeps = written + "\n    seen.append(x)\nseen = []"
    assert may_remember([HEAD, keeps], "test_attention")


def test_a_test_of_thousands_of_parts_may_remember() -> None:
    assert may_remember([HEAD, after("f = lambda: 1; " * 900)], "test_attention")


def test_a_test_may_remember_where_it_is_not_known_what_is_unusual(monkeypatch) -> None:
    monkeypatch.setattr(unusual, "_unusual", fails)
    assert may_remember(["import torch  # read for the first time", PLAIN], "test_attention")


def fails(_node: object) -> None:
    """A reading that is too deep for Python."""
    raise RecursionError


@pytest.mark.parametrize("module", PURE)
def test_nothing_that_is_known_to_keep_nothing_is_a_module_or_registers_others(module: str) -> None:
    found = vars(import_module(module))
    assert not any(isinstance(found[name], ModuleType | ABCMeta) for name in PURE[module])


def test_a_test_that_is_not_there_may_remember() -> None:
    assert may_remember([HEAD], "test_attention")


@pytest.mark.parametrize("form", RIGHT, ids=[form.id for form in RIGHT])
def test_right_tests_by_other_hands_plainly_keep_nothing(form: Form) -> None:
    assert not may_remember([HEAD, form.source], form.exercise)


def test_right_tests_by_other_hands_that_import_within_may_remember() -> None:
    importing = [form for form in TESTS if WITHIN in form.source]
    assert importing
    assert all(may_remember([HEAD, form.source], form.exercise) for form in importing)


@pytest.mark.parametrize(
    "lines",
    [
        "seen = []; seen.append(attention)",
        "torch.manual_seed(3); torch.randn(2, generator=torch.Generator().manual_seed(1))",
        "f = lambda x, n=[]: n; f(1)",
        "print([F.softmax(torch.ones(1), -1), nn.functional.relu(torch.ones(1))], math.pi)",
        "print(list(itertools.product(range(3), repeat=2)), math.sqrt(2), Counter('abc'))",
        "def near(a, n=1):\n        return [a for a in range(n) if a]\n    near(near, 2)",
    ],
)
def test_what_ends_with_the_call_is_no_memory(lines: str) -> None:
    assert not may_remember([HEAD, after(lines)], "test_attention")


def test_an_answer_beside_a_test_may_keep_what_is_its_own() -> None:
    layer = "class Layer(nn.Module):\n    def __init__(self):\n        self.w = nn.Linear(2, 2)\n"
    assert not may_remember([HEAD, layer + PLAIN], "test_attention")


@pytest.mark.parametrize(
    ("lesson", "test"),
    [
        ("02_attention", "test_attention"),
        ("05_encoder", "test_padding"),
        ("06b_writing_lab", "test_no_peeking"),
    ],
)
def test_the_plan_tries_the_courses_own_test_once_and_one_that_remembers_twice(lesson, test):
    notebook = source_notebook(all_lessons()[lesson])
    for again in (False, True):
        if again:
            cell = next(cell for cell in notebook.cells if cell["id"] == test)
            cell["source"] += "\n    seen.append(1)\nseen = []"
        cells = read_submission(json.dumps(notebook).encode())[1]
        steps = make_plan(all_lessons()[lesson], cells).steps
        assert [step.again for step in steps if step.exercise == test] == [again]
