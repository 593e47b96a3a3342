"""Of cells that do not run, what a student defines there and would miss is kept."""

import pytest

from grader.static_analysis.definitions import definitions_alone

LESSON = "steps = 200\nmodel = train(steps)\nfor name in model:\n    print(name)"


def kept(idle, running="", answers=()):
    return definitions_alone([idle], [running], LESSON, answers)[0].strip("\n")


@pytest.mark.parametrize("statement", [
    "BLOCKED = False",
    "BLOCKED: bool = False",
    "a, (BLOCKED, *c) = 1, (2, 3)",
    "BLOCKED = other = 1",
    "(BLOCKED := 1)",
    "if True:\n    def BLOCKED():\n        return 1",
    "try:\n    from math import tau as BLOCKED\nexcept ImportError:\n    BLOCKED = 6.28",
    "with open('x') as BLOCKED:\n    pass",
    "for BLOCKED in range(3):\n    pass",
    "BLOCKED = lambda n: n",
])  # fmt: skip
@pytest.mark.parametrize("use", [
    "def f():\n    return BLOCKED", "print(BLOCKED)", "f = lambda: [BLOCKED for _ in 'a']",
    "class A:\n    def f(self):\n        return BLOCKED.a", "await BLOCKED",
])  # fmt: skip
def test_what_binds_a_name_that_a_cell_reads_and_none_binds_is_kept(statement, use):
    assert kept(f"{statement}\ntrain()", use) == statement


@pytest.mark.parametrize(("statement", "running"), [
    ("x = try_out()", "def f(x):\n    return x"),
    ("x = try_out()", "def f(y):\n    x = y\n    return [x for x in x]"),
    ("x = try_out()", "x = 1\nprint(x)"),
    ("x = try_out()", "import numpy as x\nprint(x)"),
    ("x = try_out()", "print(y.x, {'x': 1})"),
    ("sum = try_out()", "def f(y):\n    return sum(y)"),
    ("train(x)", "print(x)"),
    ("steps = 200", "print(steps)"),
    ("steps = 200  ", "print(steps)"),
    ("x = 1; train()", "print(x)"),
])  # fmt: skip
def test_what_a_student_tries_out_and_no_cell_misses_is_left_out(statement, running):
    assert kept(statement, running) == ""


def test_a_line_that_is_part_of_a_lessons_line_is_the_students_own():
    assert kept("name = 2\nps = 200", "print(ps)") == "ps = 200"


def test_what_is_kept_may_need_what_stands_in_another_cell_that_does_not_run():
    cells = ["SIZE = 4\nwide = try_out()", "TABLE = [0] * SIZE", "def helper():\n    return TABLE"]
    assert definitions_alone(cells, ["helper()"], LESSON) == ["SIZE = 4", *cells[1:]]


def test_a_later_value_of_a_name_that_is_kept_is_kept_too():
    assert definitions_alone(["A = 1", "A = 2"], ["print(A)"], LESSON) == ["A = 1", "A = 2"]


def test_an_answer_is_kept_whoever_reads_it():
    assert kept("guess = 3\nother = 4", answers=["guess"]) == "guess = 3"


def test_a_cell_that_cannot_be_read_gives_nothing_and_keeps_no_other_from_it():
    assert definitions_alone(["A = (", "A = 1"], ["print(A)", "def ("], LESSON) == ["", "A = 1"]
