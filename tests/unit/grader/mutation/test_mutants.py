"""Each operator makes the error that it is named after, told in words that give nothing away."""

import pytest

from grader.mutation.mutants import mutants, mutants_of_two, names_given


def answers(body: str, *arguments: object, known: str = "x y dim") -> dict[str, list[object]]:
    """What the mutants of ``def f(x, y): ...`` give, by how they are told."""
    source = f"import math\ndef f(x, y):\n{body}\n"
    found: dict[str, list[object]] = {}
    for mutant in mutants(source, "f", frozenset(known.split())):
        namespace: dict[str, object] = {}
        exec(mutant.code, namespace)
        try:
            result = namespace["f"](*arguments)
        except Exception as error:
            result = type(error).__name__
        found.setdefault(mutant.as_if[0], []).append(result)
    return found


@pytest.mark.parametrize(
    ("line", "as_if", "result"),
    [
        ("return x + y", "`y` were not added", 7),
        ("return x + y", "`y` were subtracted, not added", 5),
        ("return x - y", "a difference were taken the other way round", -5),
        ("return x * y", "nothing were multiplied by `y`", 7),
        ("return x / y", "nothing were divided by `y`", 7),
        ("return x / y", "1 were added to the divisor, `y`", 7 / 3),
        ("return x ** 0.5", "a constant 0.5 were 0.25", 7**0.25),
        ("return x < y", "a comparison went the other way", True),
        ("return x >= 7", "a comparison did not hold where both sides are equal", False),
        ("return -x", "the sign of `x` were turned", 7),
        ("return max(x, y)", "`min` stood for `max`", "NameError"),  # torch is not there
        ("return math.sqrt(x)", "`sqrt` were left out", 7),
        ("return x - y", "`y` stood where `x` belongs", 0),
        ("return x, y", "the two results were returned in the other order", (2, 7)),
        ("return [n for n in range(y)]", "a loop ran one step fewer", [0]),
        ("return 'abcdef'[y:]", "a slice began one later", "def"),
        ("return x if y else 0", "a choice were always made the second way", 0),
    ],
)
def test_a_change_of_an_expression_gives_what_it_is_told_as(line, as_if, result):
    assert result in answers(f"    {line}", 7, 2)[as_if]


@pytest.mark.parametrize(
    ("body", "as_if", "result"),
    [
        ("    y = y + 1\n    return y", "the step that sets `y` were left out", 2),
        ("    if y > 100:\n        x = 0\n    return x",
         "the step that sets `x` came whatever the condition says", 0),
        ("    if y is None:\n        y = 1\n    return x * y", "no `y` were given", 7),
        ("    for n in range(4):\n        x += n\n    return x",
         "a loop ended after its first step", 7),
        ("    if x:\n        return y\n    return x",
         "an early return were left out, which depends on a condition", 7),
    ],
)  # fmt: skip
def test_a_change_of_a_statement_gives_what_it_is_told_as(body, as_if, result):
    assert result in answers(body, 7, 2)[as_if]


def test_no_two_mutants_are_the_same_program():
    found = list(mutants("def f(x):\n    return x + x * 2", "f", frozenset({"x"})))
    assert len({m.code.co_consts for m in found}) > 1
    assert len({(m.code.co_code, str(m.code.co_consts[0].co_code), str(m.code.co_consts))
                for m in found}) == len(found)  # fmt: skip


def test_a_name_of_the_answer_alone_is_never_told():
    body = "    secret = x + y\n    return secret * y"
    told = answers(body, 7, 2)
    assert told
    assert not any("secret" in as_if for as_if in told)
    assert "nothing were multiplied by `y`" in told
    assert "nothing were multiplied by the sum of `x` and `y`" in told


def test_the_names_given_are_those_outside_of_the_solution():
    cell = """def f(x):
    '''Give the scale.'''
    # BEGIN SOLUTION
    secret = 2
    return secret
    # STUB
    # return other
    # END SOLUTION
"""
    assert {"f", "x", "scale", "other"} <= names_given(cell)
    assert "secret" not in names_given(cell)


def test_annotations_and_docstrings_are_left_alone():
    source = 'def f(x: int = 3) -> int:\n    "one + two"\n    return x\n'
    told = [m.as_if[0] for m in mutants(source, "f", frozenset("x"))]
    assert told
    assert all(m.code.co_consts for m in mutants(source, "f", frozenset("x")))
    assert not any("two" in as_if for as_if in told)
    assert any("a 3 were 4" in as_if for as_if in told)


def test_two_changes_at_once_are_both_made():
    source = "def f(x, y):\n    return -(x + y)\n"
    places = {m.place: m.as_if[0] for m in mutants(source, "f", frozenset("xy"))}
    found = {}
    for mutant in mutants_of_two(source, "f", frozenset("xy"), places):
        namespace: dict[str, object] = {}
        exec(mutant.code, namespace)
        if not any("applied" in as_if for as_if in mutant.as_if):  # these need a tensor
            found[mutant.as_if] = namespace["f"](7, 2)
    wanted = {"`y` were not added", "the sign of the sum of `x` and `y` were turned"}
    assert next(v for k, v in found.items() if set(k) == wanted) == 7
