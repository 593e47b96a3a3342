"""Shortcuts are refused however they are reached, and right answers never are."""

import inspect
import json
import textwrap

import pytest

from grader.authoring.notebook import source_notebook
from grader.grading.pipeline import prepare, ruled_out
from grader.static_analysis import shortcuts
from grader.static_analysis.shortcuts import refusals
from grader.static_analysis.tampering import tampering
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
ATTENTION = probes()["scaled_dot_product_attention"].forbidden
SOFTMAX = probes()["stable_softmax"].forbidden


def refused(*cells, exercise="scaled_dot_product_attention", forbidden=ATTENTION):
    return bool(refusals([HEAD, *cells], {exercise: forbidden}, frozenset({"padding_mask"})))


def answer(body):
    return f"def scaled_dot_product_attention(q, k, v, mask=None):\n    {body}\n"


SHORTCUTS = {
    "called by its full name": [answer("return torch.nn.functional.scaled_dot_product_attention(q, k, v)")],
    "called through an alias of the module": [answer("return F.scaled_dot_product_attention(q, k, v)")],
    "imported under another name": [
        "from torch.nn.functional import scaled_dot_product_attention as helper",
        answer("return helper(q, k, v)"),
    ],
    "imported inside the function": [
        answer("from torch.nn.functional import scaled_dot_product_attention as f; return f(q, k, v)")
    ],
    "imported as the answer": ["from torch.nn.functional import scaled_dot_product_attention"],
    "star import": ["from torch.nn.functional import *"],
    "another cell's variable": ["quick = F.scaled_dot_product_attention", answer("return quick(q, k, v)")],
    "a variable two steps away": [
        "quick = F.scaled_dot_product_attention", "quicker = [quick]", answer("return quicker[0](q, k, v)"),
    ],
    "getattr with a constant": [answer("return getattr(F, 'scaled_dot_product_attention')(q, k, v)")],
    "getattr with a computed name": [answer("return getattr(F, 'scaled' + '_dot')(q, k, v)")],
    "vars of the module": [answer("return vars(F)['scaled_dot_product_attention'](q, k, v)")],
    "dict of the module": [answer("return F.__dict__['scaled_dot_product_attention'](q, k, v)")],
    "importlib": ["import importlib", answer("return importlib.import_module('torch.nn.functional')")],
    "__import__": [answer("return __import__('torch').nn")],
    "sys.modules": ["import sys", answer("return sys.modules['torch.nn.functional'].x(q)")],
    "from sys import modules": ["from sys import modules", answer("return modules['torch'].x(q)")],
    "torch.ops": [answer("return torch.ops.aten.scaled_dot_product_attention(q, k, v)")],
    "from torch import ops": ["from torch import ops", answer("return ops.aten.x(q, k, v)")],
    "torch._C": [answer("return torch._C._nn.scaled_dot_product_attention(q, k, v)")],
    "eval": [answer("return eval('F.scaled' + '_dot_product_attention')(q, k, v)")],
    "exec at the top": ["exec('a = F.scaled_dot_product_attention')", answer("return a(q, k, v)")],
    "globals at the top": ["globals()['a'] = F.scaled_dot_product_attention", answer("return a(q, k, v)")],
    "an attribute set on torch": ["torch.mine = F.scaled_dot_product_attention", answer("return torch.mine(q, k, v)")],
    "setattr at the top": ["setattr(math, 'mine', F.scaled_dot_product_attention)", answer("return math.mine(q)")],
    "a module that contains it": [answer("return nn.MultiheadAttention(4, 1)(q, k, v)")],
    "a subclass": ["class Mine(nn.MultiheadAttention):\n    pass", answer("return Mine(4, 1)(q, k, v)")],
    "a default argument": ["def scaled_dot_product_attention(q, k, v, mask=None, f=F.scaled_dot_product_attention):\n    return f(q, k, v)"],
    "a decorator": ["def swap(_):\n    return F.scaled_dot_product_attention", "@swap\ndef scaled_dot_product_attention(q, k, v, mask=None):\n    pass"],
    "a lambda": ["scaled_dot_product_attention = lambda q, k, v, mask=None: F.scaled_dot_product_attention(q, k, v)"],
    "inside an if at the top": ["if True:\n    from torch.nn.functional import scaled_dot_product_attention as s", answer("return s(q, k, v)")],
    "the course's own oracle": ["from utils.reference.attention import reference_attention", answer("return reference_attention(q, k, v, mask)")],
    "the oracle by module": ["import utils.reference.attention as r", answer("return r.reference_attention(q, k, v, mask)")],
    "the closure of something": [answer("return check.__closure__[0].cell_contents(q, k, v)")],
    "frames": ["import inspect", answer("return inspect.currentframe().f_back")],
    "the garbage collector": ["import gc", answer("return gc.get_objects()[0](q, k, v)")],
    "the shell": ["get_ipython().run_cell('a = F.scaled_dot_product_attention')", answer("return get_ipython().user_ns['a'](q)")],
    "attrgetter": ["import operator", answer("return operator.attrgetter('scaled_dot_product_attention')(F)(q, k, v)")],
    "a walrus": [answer("return (f := F.scaled_dot_product_attention)(q, k, v)")],
    "a class attribute": ["class Box:\n    f = staticmethod(F.scaled_dot_product_attention)", answer("return Box.f(q, k, v)")],
    "the shell binds a name": ["get_ipython().run_cell('a = F.scaled_dot_product_attention')", answer("return a(q, k, v)")],
    "an object of one's own changed": ["class Box: pass\nbox = Box()\nbox.f = F.scaled_dot_product_attention", answer("return box.f(q, k, v)")],
    "an import bound anew": ["from math import sqrt\nsqrt = F.scaled_dot_product_attention", answer("return sqrt(q, k, v)")],
    "the course's stand-in": ["from utils.reference.modules import scaled_dot_product_attention as own", answer("return own(q, k, v, mask)")],
    "the course's stand-in as the answer": ["from utils.reference.modules import scaled_dot_product_attention"],
    "the stand-in from where it is used": ["from utils import encoders", answer("return encoders.scaled_dot_product_attention(q, k, v)")],
    "its own block carried": ["from utils.notebook.carry import carry", "scaled_dot_product_attention = carry('02_attention', 'scaled_dot_product_attention')"],
    "a later block carried": ["from utils.notebook.carry import carry", "Later = carry('03_multi_head_attention', 'MultiHeadAttention')", answer("return Later(4, 1)(q, k, v)")],
    "carry under another name": ["from utils.notebook.carry import carry as c", "b = c('00_start_here', 'padding_mask')", answer("return b(q)")],
    "carry in a variable": ["from utils.notebook.carry import carry\nget = carry", "b = get('00_start_here', 'padding_mask')", answer("return b(q)")],
    "a carry of one's own": ["from utils.notebook.carry import carry\ndef carry(lesson, name):\n    return F.scaled_dot_product_attention", "padding_mask = carry('00_start_here', 'padding_mask')", answer("return padding_mask(q)")],
    "what carry imports": ["import utils.notebook.carry", answer("return utils.notebook.carry.modules.scaled_dot_product_attention(q, k, v)")],
    "an early one of two star imports": ["from torch.nn.functional import *\nfrom math import *", answer("return multi_head_attention_forward(q)")],
    "flex attention": ["from torch.nn.attention.flex_attention import flex_attention", answer("return flex_attention(q, k, v)")],
    "getattr step by step": [answer("return getattr(getattr(torch, 'nn'), 'functional').x(q, k, v)")],
    "put into a list": ["box = []\nbox.append(F.scaled_dot_product_attention)", answer("return box[0](q, k, v)")],
    "put into a dict by keyword": ["box = {}\nbox.update(f=F.scaled_dot_product_attention)", answer("return box['f'](q, k, v)")],
    "put into a list whose result is kept": ["box = []\n_ = box.append(F.scaled_dot_product_attention)", answer("return box[0](q, k, v)")],
    "given to a function that keeps it": ["def keep(a, b):\n    a.append(b)\nbox = []\nkeep(box, F.scaled_dot_product_attention)", answer("return box[0](q, k, v)")],
    "hung on a function": ["def keep(a, b):\n    a.f = b\ndef holder():\n    pass\nkeep(holder, F.scaled_dot_product_attention)", answer("return holder.f(q, k, v)")],
    "a name bound by a pattern": ["match F.scaled_dot_product_attention:\n    case f:\n        pass", answer("return f(q, k, v)")],
    "an alias that is taken by another module later": [answer("return G.scaled_dot_product_attention(q, k, v)").replace("def", "import torch.nn.functional as G\ndef", 1), "import math as G"],
    "a pattern that fetches": [answer("match F:\n        case object(scaled_dot_product_attention=f):\n            return f(q, k, v)")],
    "a name bound by a pattern's star": ["match [F.scaled_dot_product_attention]:\n    case [*f]:\n        pass", answer("return f[0](q, k, v)")],
    "a name bound by a pattern's rest": ["match {1: F.scaled_dot_product_attention}:\n    case {**f}:\n        pass", answer("return f[1](q, k, v)")],
    "a name bound by except": ["try:\n    raise Own(F.scaled_dot_product_attention)\nexcept Own as e:\n    def held(e=e):\n        return e", answer("return held().args[0](q, k, v)")],
    "a walrus at the top": ["print(f := F.scaled_dot_product_attention)", answer("return f(q, k, v)")],
    "a walrus in a default": ["def other(x=(f := F.scaled_dot_product_attention)):\n    pass", answer("return f(q, k, v)")],
    "a builtin bound anew": ["max = F.scaled_dot_product_attention", answer("return max(q, k, v)")],
    "a global set inside a function": ["def prepare():\n    global quick\n    quick = F.scaled_dot_product_attention", answer("return quick(q, k, v)")],
}  # fmt: skip


@pytest.mark.parametrize("cells", SHORTCUTS.values(), ids=SHORTCUTS.keys())
def test_a_shortcut_is_refused(cells):
    assert refused(*cells)


RIGHT = {
    "a block that the lesson carries": ["from utils.notebook.carry import carry", "padding_mask = carry('00_start_here', 'padding_mask')", answer("return padding_mask(q)")],
    "the formula": [answer("return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) @ v")],
    "torch's softmax, where it is allowed": [answer("return torch.softmax(q @ k.mT, -1) @ v")],
    "a helper in another cell": ["def norm(s):\n    return F.softmax(s, dim=-1)", answer("return norm(q @ k.mT) @ v")],
    "comparing with torch in a scratch cell": [
        answer("return q"),
        "q = torch.randn(2, 3, 4)\nwanted = F.scaled_dot_product_attention(q, q, q)\nprint((scaled_dot_product_attention(q, q, q) - wanted).abs().max())",
    ],
    "comparing in a function": [
        answer("return q"),
        "def compare(q):\n    return F.scaled_dot_product_attention(q, q, q) - scaled_dot_product_attention(q, q, q)",
    ],
    "a cell that does not parse": ["def broken(:\n    F.scaled_dot_product_attention", answer("return q")],
    "magics": ["%matplotlib inline\n!ls", answer("return q")],
    "timing in another cell": ["import time, sys\nstart = time.time()\nprint(sys.version)", answer("return q")],
    "a list filled in another cell": ["losses = {}\nlosses['a'] = 1", answer("return q")],
    "torch's results kept in a table of one's own": ["results = {}\nresults['torch'] = F.scaled_dot_product_attention(q, q, q)", answer("return q")],
    "eval in a scratch cell": ["print(eval('1 + 1'))", answer("scores = q @ k.mT; return scores")],
    "getattr on self": ["class Helper:\n    def get(self, name):\n        return getattr(self, name)", answer("return Helper().get('x')")],
    "getattr with a harmless constant": [answer("return getattr(F, 'relu')(q)")],
    "a variable called vars": [answer("vars = q.var(-1); return q / vars")],
    "super with its own class": ["class A(nn.Module):\n    def __init__(self):\n        super(A, self).__init__()", answer("return A()")],
    "a function compared with torch's": [answer("return q"), "compare(scaled_dot_product_attention, F.scaled_dot_product_attention)"],
    "usual calls": ["torch.manual_seed(0)\nmodel.eval()\nax.set(title='x')\nplots.show(fig, alt='x')\nprint(x)\ncheck.scaled_dot_product_attention(scaled_dot_product_attention)", answer("return torch.relu(q)")],
    "an import used beside torch's": ["torch.testing.assert_close(F.scaled_dot_product_attention(q, q, q), q)", answer("return torch.relu(q)")],
    "plot settings": ["import matplotlib.pyplot as plt\nplt.rcParams['figure.dpi'] = 80", answer("return q")],
    "a method of the same name on self": [
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.scaled_dot_product_attention = scaled_dot_product_attention\n    def forward(self, q):\n        return self.scaled_dot_product_attention(q, q, q)",
        answer("return A"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("cells", RIGHT.values(), ids=RIGHT.keys())
def test_a_right_answer_is_not_refused(cells):
    assert not refused(*cells)


@pytest.mark.parametrize(
    "body",
    ["return x.softmax(dim)", "return F.softmax(x, dim)", "return torch.softmax(x, dim)",
     "return x.log_softmax(dim).exp()", "return nn.Softmax(dim)(x)", "return (x - x.logsumexp(dim, True)).exp()",
     "return torch.Tensor.softmax(x, dim)", "return torch.special.softmax(x, dim)",
     "return torch._softmax(x, dim, False)", "return torch._safe_softmax(x, dim)", "return torch._masked_softmax(x, m, dim, 2)",
     "return (x - x.logcumsumexp(dim)).exp()", "return torch.exp(-F.cross_entropy(x, i))",
     "return F.scaled_dot_product_attention(one, x, one, scale=1.0)"],
)  # fmt: skip
def test_methods_and_relatives_of_a_shortcut_are_refused(body):
    source = f"def stable_softmax(x, dim=-1):\n    {body}\n"
    assert refused(source, exercise="stable_softmax", forbidden=SOFTMAX)


@pytest.mark.parametrize(
    "body",
    ["torch._fused_rms_norm(x, [4], None, 1e-5)", "torch._batch_norm_impl_index(x, g, b, None, None, True, 0, 1e-5, False)",
     "torch._native_batch_norm_legit(x, g, b, True, 0, 1e-5)"],
)  # fmt: skip
def test_a_private_name_of_a_normaliser_is_refused(body):
    source = f"class LayerNorm(nn.Module):\n    def forward(self, x):\n        return {body}\n"
    assert refused(source, exercise="LayerNorm", forbidden=ruled_out("LayerNorm"))


@pytest.mark.parametrize(
    "source",
    ["import gc\nfor f in gc.get_objects():\n    f.__code__ = None", "import sys\nsys._getframe(1)",
     "from sys import settrace\nsettrace(print)", "import ctypes as c\nc.string_at(0)",
     "import utils.checks.framework.observe as o\no.observe = None", "from grader.workers import worker",
     "f.__closure__[0].cell_contents", "getattr(f, '__code__')", "from utils import checks\nc = checks\nc.observe = None",
     "import gc\ngetattr(gc, 'get_' + 'objects')()", "from utils import *\nchecks.observe = None",
     "torch._C.DisableTorchFunction()", "from torch.overrides import BaseTorchFunctionMode", "torch.jit.trace(f, x)",
     "torch.fx.symbolic_trace(f)", "torch.export.export(model, x)", "eval(compile('x', 'a', 'eval'))"],
)  # fmt: skip
def test_code_that_reaches_into_the_program_is_tampering(source):
    assert tampering([source])


@pytest.mark.parametrize(
    "source",
    [
        "a = None\nglobals()['a'] = F.softmax",
        "vars().update(a=F.softmax)",
        "locals().setdefault('a', F.softmax)",
        "import sys\nsys.modules['torch']\nimport math as sys",
        "import math as sys\nimport sys\nsys.modules['torch']\nimport math as sys",
        "\n".join(f"import a{n} as a" for n in range(9)),
    ],
)
def test_names_that_are_bound_out_of_sight_are_tampering(source):
    assert tampering([source])


@pytest.mark.parametrize(
    "source", ["'a' in globals()", "vars(settings).items()", "import numpy as a\nimport math as a"]
)
def test_looking_at_names_is_not_tampering(source):
    assert not tampering([source])


@pytest.mark.parametrize(
    "source",
    [HEAD, "import gc\ngc.collect()", "import sys\nprint(sys.version)", "import os\nos.getcwd()",
     "import utils.checks\nutils.checks.check.attend(attend)", "from utils import checks\nchecks.check.attend(attend)",
     "list(model.modules())", "import sys\nprint(sys.maxsize, file=sys.stderr)", "imp = weights.abs(); imp.sum()",
     "torch.stack([a, b])", "import re\nre.compile('a')", "torch.compile(model)", "import threading as t\nt.Lock()", "import inspect\nprint(inspect.getsource(f))", "f.__name__, f.__doc__"],
)  # fmt: skip
def test_what_notebooks_usually_do_is_not_tampering(source):
    assert not tampering([source])


@pytest.mark.parametrize(
    "body",
    ["return type(layer).mro()[1].forward(layer, x, mask)", "return super(type(layer), layer).forward(x, mask)",
     "C = type(layer); return super(C, layer).forward(x, mask)", "return type(layer).__base__.forward(layer, x, mask)"],
)  # fmt: skip
def test_the_base_class_of_a_broken_layer_is_refused(body):
    source = f"def repaired_layer(layer, x, mask=None):\n    {body}\n"
    assert refused(source, exercise="repaired_layer", forbidden=ruled_out("repaired_layer"))


def test_the_sentence_names_what_was_found():
    cells = [HEAD, answer("return F.scaled_dot_product_attention(q, k, v)")]
    (sentence,) = refusals(cells, {"scaled_dot_product_attention": ATTENTION}).values()
    assert "`torch.nn.functional.scaled_dot_product_attention`" in sentence


def ways(name: str, exercise: str) -> list[str]:
    """Answers that leave the work to what the exercise rules out."""
    module, last = name.rsplit(".", 1)
    define = f"def {exercise}(*given):\n    return "
    if module == "torch.Tensor":
        return [f"{define}given[0].{last}(*given[1:])", f"{define}torch.Tensor.{last}(*given)"]
    return [
        f"import {module}\n{define}{name}(*given)",
        f"from {module} import {last} as mine\n{define}mine(*given)",
        f"from {module} import {last} as mine\n{exercise} = mine",
        f"import {module} as m\n{define}getattr(m, {last!r})(*given)",
        f"import importlib\n{define}vars(importlib.import_module({module!r}))[{last!r}](*given)",
        f"import {module} as m\nclass Mine(m.{last}):\n    pass\n{define}Mine(*given)",
    ]


@pytest.mark.parametrize("exercise", sorted(name for name in probes() if ruled_out(name)))
def test_what_an_exercise_rules_out_is_refused_in_every_lesson(exercise):
    names = ruled_out(exercise)
    for source in [source for name in names for source in ways(name, exercise)]:
        assert refusals([HEAD, source], {exercise: names}), source


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_no_solution_of_a_lesson_is_refused(lesson):
    notebook = json.dumps(source_notebook(lesson)).encode()
    assert prepare(notebook, lesson).refused == {}


FORMS = [
    pytest.param(name, form, id=f"{name}-{number}")
    for name, forms in RIGHT_FORMS.items()
    for number, form in enumerate(forms)
    if inspect.isfunction(form) or inspect.isclass(form)
]


@pytest.mark.parametrize(("exercise", "form"), FORMS)
def test_no_other_right_form_is_refused(exercise, form):
    source = textwrap.dedent(inspect.getsource(form)).replace(form.__name__, exercise, 1)
    assert not refusals([HEAD, source], {exercise: ruled_out(exercise)})


def submitted(*sources):
    cells = [{"cell_type": "code", "source": source, "metadata": {}} for source in sources]
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


def test_a_back_door_is_refused_where_an_exercise_rules_nothing_out():
    source = "from utils.reference.modules import MultiHeadAttention as m\nsplit_heads = m.split"
    assert not ruled_out("split_heads")
    lesson = all_lessons()["03_multi_head_attention"]
    assert set(prepare(submitted(source), lesson).refused) == {"split_heads"}


def test_tampering_refuses_every_exercise():
    source = "from utils.checks.lessons.multi_head_attention.variants import view_split"
    lesson = all_lessons()["03_multi_head_attention"]
    refused = prepare(submitted(source), lesson).refused
    assert set(refused) == {exercise.id for exercise in lesson.exercises}


EARLIER = answer("return F.scaled_dot_product_attention(q, k, v)")
CLASS = "class MultiHeadAttention(nn.Module):\n    def forward(self, q, k, v):\n        return {}(q, k, v)\n"
WHOLE = probes()["MultiHeadAttention"].forbidden


def later(*cells):
    wrong = {"MultiHeadAttention": (*WHOLE, *ATTENTION)}
    return bool(refusals([HEAD, EARLIER, *cells], wrong))


def test_an_earlier_exercise_that_a_stand_in_replaces_costs_its_own_points_alone():
    assert refused(EARLIER)
    assert not later(CLASS.format("scaled_dot_product_attention"))


@pytest.mark.parametrize(
    "cells",
    [
        ["quick = scaled_dot_product_attention", CLASS.format("quick")],
        ["def get():\n    return scaled_dot_product_attention\nquick = get()", CLASS.format("quick")],
        ["def quick(q, k, v, f=scaled_dot_product_attention):\n    return f(q, k, v)", CLASS.format("quick")],
        ["class A:\n    def __call__(self, q):\n        return scaled_dot_product_attention(q, q, q)\nMultiHeadAttention = A()"],
        [CLASS.replace("\n", "\n    helper = F.relu\n", 1).format("scaled_dot_product_attention")],
    ],
    ids=["another name", "fetched", "a default", "an object", "another module's function first"],
)  # fmt: skip
def test_an_earlier_exercise_that_no_stand_in_replaces_is_read(cells):
    assert later(*cells)


def test_a_statement_that_binds_many_names_is_read_once(monkeypatch):
    readings = []
    uses = shortcuts.uses
    monkeypatch.setattr(shortcuts, "uses", lambda *a, **k: readings.append(1) or uses(*a, **k))
    names = [f"n{i}" for i in range(50)]
    assert not refused(f"{' = '.join(names)} = [{', '.join(names)}]", answer("return n0"))
    assert len(readings) <= 4  # the chain and the answer, each early and late


def test_of_a_long_chain_of_attributes_every_part_is_read():
    harmless = ".a" * 300
    assert not refused(answer(f"return q{harmless}"))
    assert refused(answer(f"return F.scaled_dot_product_attention{harmless}"))
    assert refused(answer(f"return q{harmless}.__globals__{harmless}"))


BUGGY = "utils.experiments.buggy"
BY_THE_COURSE = {
    "a class of it": f"from {BUGGY} import FaultyAttention\nclass MultiHeadAttention(FaultyAttention):\n    pass",
    "by its module": "from utils.experiments import buggy\ndef MultiHeadAttention(d, h):\n    return buggy.FaultyAttention(d, h, 'none')",
    "by a star": f"from {BUGGY} import *\ndef MultiHeadAttention(d, h):\n    return FaultyAttention(d, h, 'none')",
    "its module kept": "from utils.experiments import buggy\nB = buggy\ndef MultiHeadAttention(d, h):\n    return B.FaultyAttention(d, h, 'none')",
    "its module in a list": "from utils.experiments import buggy\nB = [buggy]\ndef MultiHeadAttention(d, h):\n    return B[0].FaultyAttention(d, h, 'none')",
    "by the whole path": f"import {BUGGY}\ndef MultiHeadAttention(d, h):\n    return {BUGGY}.FaultyAttention(d, h, 'none')",
    "the package kept": f"import {BUGGY}\nE = utils.experiments\ndef MultiHeadAttention(d, h):\n    return E.buggy.FaultyAttention(d, h, 'none')",
    "what gives it to an encoder": f"from {BUGGY} import with_fault as w\ndef MultiHeadAttention(d, h):\n    return w(d, 'none', h)",
    "found by a text": "from utils.experiments import buggy\ndef MultiHeadAttention(d, h):\n    return getattr(buggy, 'Faulty' + 'Attention')(d, h, 'none')",
    "one that is turned": "from utils.training.rotary import RotaryAttention\ndef MultiHeadAttention(d, h):\n    return RotaryAttention(d, h, 0)",
    "its module, renamed": "import utils.training.rotary as r\ndef MultiHeadAttention(d, h):\n    return r.RotaryAttention(d, h, 0)",
}  # fmt: skip


@pytest.mark.parametrize("way", BY_THE_COURSE)
def test_attention_by_another_module_of_the_course_is_refused(way):
    sources = [HEAD, BY_THE_COURSE[way]]
    assert refusals(sources, {"MultiHeadAttention": ruled_out("MultiHeadAttention")})


LONGER_WAYS = [
    "torch.functional.torch.jit.trace(q)", "torch.functional.torch.ops.mkldnn(q)",
    "torch.nn.functional.torch.overrides", "torch.functional.torch._refs.softmax(q)",
    "torch.functional.torch.nn.functional", "torch.importlib.import_module('torch')",
    "torch.builtins.eval('q')", "torch.functional.torch.functional.torch.jit.script(q)",
    "torch.inspect.getmodule(q)", "torch.nn.init.torch._dynamo",
]  # fmt: skip


@pytest.mark.parametrize("path", LONGER_WAYS)
def test_a_back_door_reached_through_another_module_is_refused(path):
    name = "scaled_dot_product_attention"
    source = f"def {name}(q, k, v, mask=None):\n    return {path}"
    assert refusals([HEAD, source], {name: ruled_out(name)})


@pytest.mark.parametrize("call", ["torch.gru_cell", "torch.lstm_cell", "nn.GRUCell", "nn.LSTM"])
def test_a_gated_cell_is_no_answer_for_a_plain_one(call):
    source = f"def rnn_cell(x_t, h, w_x, w_h, b):\n    return {call}(x_t, h, w_x, w_h)"
    assert refusals([HEAD, source], {"rnn_cell": ruled_out("rnn_cell")})
