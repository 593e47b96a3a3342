"""An answer's names are read from its code, so that it is told of no function that it lacks."""

import pytest
from torch import nn

from utils.checks.framework.words_used import may_be_told, words_in, words_of


def beside(x):
    return x.unflatten(-1, (2, -1))


class Answer(nn.Module):
    def forward(self, x):
        return [beside(part).transpose(1, 2) for part in x]


def test_words_are_those_of_all_methods_and_of_functions_beside_them():
    assert {"x", "transpose", "unflatten"} <= (words_of(Answer) or set())
    assert "flatten" not in (words_of(Answer) or set())


def test_an_answer_without_code_has_no_words():
    assert words_of(3) is None
    assert words_in([]) is None


def test_words_are_read_from_lines_of_code():
    assert words_in(["y = x.view(2, -1)", "return y"]) == {"y", "x", "view", "return"}


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("a 1 were 0 in `view`", True),
        ("a 1 were 0 in `flatten`", False),
        ("`arange(…)` were exchanged", False),
        ("the softmax were left out", True),
        ("`softmax` were left out", True),
        ("`view` stood for `reshape`", True),
        ("a 1 were 0 in `movedim`", False),
        ("a comparison were inverted", False),
    ],
)
def test_form_is_told_to_those_alone_who_use_it(sentence, told):
    assert may_be_told(sentence, {"view", "x"}) == told


def test_a_variable_that_an_answer_does_not_have_is_not_told():
    assert not may_be_told("nothing were multiplied by `kept`", {"mask", "x"})
    assert may_be_told("nothing were multiplied by `kept`", {"kept", "x"})
    assert not may_be_told("nothing were multiplied by `real`", {"mask", "x"})  # of a tensor, too


def test_a_draw_is_told_to_those_alone_who_draw():
    assert not may_be_told("`rand_like` were left out", {"dropout", "x"})
    assert may_be_told("`rand_like` were left out", {"rand_like", "x"})


@pytest.mark.parametrize(
    "used",
    [
        words_of(lambda n: n if n < 2 else 1),
        words_of(lambda n: [n for n in n if n == 3]),
        words_of(lambda n: n.lt(2)),
        words_in(["if n >= 2:"]),
        words_in(["return n.ne(2)"]),
        None,
    ],
)
def test_a_comparison_is_told_of_where_something_is_compared(used):
    assert may_be_told("a comparison were inverted", used)


def test_lines_that_compare_nothing_are_told_of_no_comparison():
    assert not may_be_told(
        "a comparison were inverted", words_in(["def f(x) -> int:", "return -x"])
    )
