"""A library that is not installed costs nothing where it is only named; else it is told."""

import ast

import numpy as np
import pytest
import torch

from grader.workers.notebook.not_installed import SAYS, not_installed, stand_in
from utils.checks.observation import describe

USES = {
    "an annotation": "def f(x: lib.Float[torch.Tensor, '1 t'] | None) -> None | lib.Int: pass",
    "types of types": "import typing\nf = typing.Optional[lib.Float]\nlist[lib.Int]",
    "read annotations": "import typing\ndef f(x: lib.Float): ...\ntyping.get_type_hints(f)",
    "a decorator": "@lib.check\ndef f(): return 1\nassert f() == 1",
    "a decorator with settings": "@lib.check(by=lib.other)\ndef f(): return 1\nassert f() == 1",
    "a decorated class": "@lib.check\nclass A: x = 1\nassert A.x == 1",
    "a base": "class A(torch.nn.Module, lib.Mixin): pass\nA()",
    "a setting": "lib.config.x = 1\nlib.options['a'] = 2\nlib.set_theme()",
    "a context": "with lib.style.context('x') as c:\n    c.draw(1)",
    "a run that is noted": "run = lib.init()\nrun.log({'a': 1})\nif run.is_on: raise ValueError",
    "a kind": "assert not isinstance(torch.ones(1), lib.Array)",
}  # fmt: skip


@pytest.mark.parametrize("code", USES.values(), ids=USES)
def test_code_that_only_names_a_library_runs_without_it(code):
    exec(code, {"lib": not_installed("lib"), "torch": torch})


@pytest.mark.parametrize("compute", [
    lambda lib: torch.ones(2) @ lib.weights,
    lambda lib: torch.relu(lib.rearrange(torch.ones(2), "a -> a")),
    lambda lib: lib.of(1) + 1,
    lambda lib: list(lib.track(range(3))),
    lambda lib: len(lib.of(1)),
    lambda lib: float(lib.of(1)),
    lambda lib: 3 in lib.of(1),
])  # fmt: skip
def test_what_computes_with_a_library_that_is_not_there_is_told_so(compute):
    with pytest.raises(TypeError, match=f"einops, {SAYS}"):
        compute(not_installed("einops"))


def test_a_result_that_a_library_should_have_given_is_told_so():
    told = describe(not_installed("einops").rearrange(1, 2))
    assert told == f"a value of type einops, {SAYS}"


def test_numpy_takes_what_is_not_installed_for_one_object():
    assert np.asarray(not_installed("lib")).shape == ()


def bound(statement, **namespace):
    stand_in(ast.parse(statement).body[0], namespace)
    return namespace


def test_of_several_imports_in_a_statement_that_failed_those_that_can_are_made():
    made = bound("import not_here, math, torch.not_here")
    assert made["math"].floor(1.5) == 1
    assert made["torch"] is torch
    assert SAYS in type(made["not_here"]).__name__


def test_of_several_names_from_a_library_those_that_are_there_are_imported():
    made = bound("from math import floor, nothing as n")
    assert made["floor"](1.5) == 1
    assert type(made["n"]).__name__ == f"math.nothing, {SAYS}"


def test_under_another_name_a_part_that_is_missing_is_not_taken_for_the_whole():
    assert SAYS in type(bound("import torch.not_here as t")["t"]).__name__


def test_a_name_that_is_there_stays_what_it_is():
    assert bound("from not_here import a, b", a=1)["a"] == 1


def test_imports_within_a_statement_that_failed_are_made():
    made = bound("if True:\n    import not_here\n    import math as m")
    assert made["m"].floor(1.5) == 1
    assert not made["not_here"]


def test_a_library_of_which_every_name_is_wanted_binds_none():
    assert "*" not in bound("from not_here import *")
