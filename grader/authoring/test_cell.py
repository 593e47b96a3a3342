"""The one form of a test cell, read without running it."""

import ast
from dataclasses import dataclass
from typing import Any

from grader.authoring.regions import HIDDEN, RegionError, regions

FORM = """A test cell has exactly this form:
    check.{id}({id})
    # BEGIN HIDDEN TESTS
    check.{id}(
        {id},
        points=POINTS,
        hidden=[dict(case="...", ...)],
    )
    # END HIDDEN TESTS"""


class FormError(ValueError):
    """A test cell in the wrong form; `offset` is the line in its source, counted from 0."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True)
class TestCell:
    """What a test cell says: the exercise's points and its hidden cases."""

    __test__ = False  # not a test, whatever pytest may think of the name

    points: float
    hidden: list[dict[str, Any]]


def read_test_cell(source: str, exercise: str) -> TestCell:
    """Return the test cell's points and hidden cases, or raise FormError."""
    visible, graded = _two_calls(source, exercise)
    if visible.keywords:
        raise FormError(visible.lineno - 1, "the visible call takes no keyword. " + _form(exercise))
    keywords = {k.arg: k.value for k in graded.keywords}
    if set(keywords) != {"points", "hidden"} or len(keywords) != len(graded.keywords):
        raise FormError(
            graded.lineno - 1, "the hidden call takes points and hidden. " + _form(exercise)
        )
    return TestCell(_points(keywords["points"]), hidden_cases(keywords["hidden"]))


def hidden_cases(node: ast.expr) -> list[dict[str, Any]]:
    """Return the value of a literal list of `dict(name=literal, ...)` or `{"name": literal}`."""
    if not isinstance(node, ast.List):
        raise FormError(node.lineno - 1, "hidden must be a literal list, [dict(...), ...]")
    return [_hidden_case(case) for case in node.elts]


def _hidden_case(node: ast.expr) -> dict[str, Any]:
    try:
        if _is_dict_call(node):
            return {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}  # type: ignore[attr-defined]
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise FormError(
            node.lineno - 1, "a hidden case must be dict(name=value, ...) with literal values"
        )
    return value


def _is_dict_call(node: ast.expr) -> bool:
    """Return whether the node is dict(...) with keywords only."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "dict"
        and not node.args
        and all(k.arg is not None for k in node.keywords)
    )


def _points(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)  # type: ignore[arg-type]
    raise FormError(node.lineno - 1, "points must be written as a number in the hidden call")


def _two_calls(source: str, exercise: str) -> tuple[ast.Call, ast.Call]:
    """Return the visible call and the call of the hidden region; nothing else may be there."""
    try:
        body, hidden = ast.parse(source).body, regions(source, HIDDEN)
    except SyntaxError as error:
        raise FormError((error.lineno or 1) - 1, f"not Python: {error.msg}") from None
    except RegionError as error:
        raise FormError(error.offset, str(error)) from None
    calls = [call for call in map(_call, body) if call is not None and _is_check(call, exercise)]
    if len(hidden) != 1 or len(body) != 2 or len(calls) != 2:
        raise FormError(0, _form(exercise))
    _verify_places(body, hidden[0], len(source.rstrip().split("\n")), exercise)
    return calls[0], calls[1]


def _verify_places(
    body: list[ast.stmt], region: tuple[int, int], n_lines: int, exercise: str
) -> None:
    """Verify that the second call alone is in the region and that the region ends the cell."""
    start, end = region[0] + 1, region[1] + 1  # ast counts lines from 1
    before = (body[0].end_lineno or 0) < start
    inside = start < body[1].lineno and (body[1].end_lineno or 0) < end
    if not (before and inside and end == n_lines):
        raise FormError(region[0], _form(exercise))


def _call(statement: ast.stmt) -> ast.Call | None:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return value if isinstance(value, ast.Call) else None


def _is_check(call: ast.Call, exercise: str) -> bool:
    """Return whether the call is check.<exercise>(<exercise>, ...)."""
    names = [ast.unparse(argument) for argument in call.args]
    return ast.unparse(call.func) == f"check.{exercise}" and names == [exercise]


def _form(exercise: str) -> str:
    return FORM.format(id=exercise)
