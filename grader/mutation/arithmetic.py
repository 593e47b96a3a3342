"""One-place changes of terms, signs, comparisons and numbers."""

import ast
from collections.abc import Callable
from typing import Any

from grader.mutation.edits import Edit, Edits, Site, changed
from grader.mutation.nodes import constant, inside, integer, is_loaded
from grader.mutation.words import called

_COMPARISONS: dict[type[ast.cmpop], tuple[tuple[type[ast.cmpop], str], ...]] = {
    ast.Lt: ((ast.LtE, "also held where both sides are equal"), (ast.Gt, "went the other way")),
    ast.LtE: ((ast.Lt, "did not hold where both sides are equal"), (ast.GtE, "went the other way")),
    ast.Gt: ((ast.GtE, "also held where both sides are equal"), (ast.Lt, "went the other way")),
    ast.GtE: ((ast.Gt, "did not hold where both sides are equal"), (ast.LtE, "went the other way")),
    ast.Eq: ((ast.NotEq, "were inverted"),),
    ast.NotEq: ((ast.Eq, "were inverted"),),
    ast.In: ((ast.NotIn, "were inverted"),),
    ast.NotIn: ((ast.In, "were inverted"),),
}


def terms(site: Site) -> Edits:
    """Leave out a side of an operation, or put its opposite."""
    node, of = site.node, site.words.of
    if not isinstance(node, ast.BinOp):
        return
    left, right = node.left, node.right
    match node.op:
        case ast.Add():
            yield Edit(left, f"{of(right)} were not added")
            yield Edit(right, f"{of(left)} were missing from a sum")
            yield _with(node, ast.Sub(), f"{of(right)} were subtracted, not added")
            yield _with(node, ast.Mult(), "two terms were multiplied, not added")
        case ast.Sub():
            yield Edit(left, f"{of(right)} were not subtracted")
            yield _with(node, ast.Add(), f"{of(right)} were added, not subtracted")
            yield Edit(
                changed(node, left=right, right=left), "a difference were taken the other way round"
            )
        case ast.Mult():
            yield Edit(left, f"nothing were multiplied by {of(right)}")
            yield Edit(right, f"nothing were multiplied by {of(left)}")
            yield _with(node, ast.Div(), f"something were divided by {of(right)}, not multiplied")
            yield _with(node, ast.Add(), "two factors were added, not multiplied")
        case ast.Div() | ast.FloorDiv():
            yield Edit(left, f"nothing were divided by {of(right)}")
            more = ast.BinOp(right, ast.Add(), ast.Constant(1))
            yield Edit(changed(node, right=more), f"1 were added to the divisor, {of(right)}")
            root = ast.BinOp(right, ast.Pow(), ast.Constant(0.5))
            yield Edit(changed(node, right=root), f"the divisor were the root of {of(right)}")
            yield Edit(changed(node, left=node), f"something were divided by {of(right)} twice")
            yield _with(node, ast.Mult(), f"something were multiplied by {of(right)}, not divided")
        case ast.Pow():
            yield Edit(left, f"the exponent, {of(right)}, were left out")
        case ast.MatMult():
            yield Edit(
                changed(node, left=right, right=left),
                "two factors of a matrix product were exchanged",
            )
            yield Edit(
                changed(node, right=_turned(right)),
                f"{of(right)} were transposed in the matrix product",
            )
            yield Edit(
                changed(node, left=_turned(left)),
                f"{of(left)} were transposed in the matrix product",
            )
        case ast.BitAnd() | ast.BitOr():
            yield Edit(left, f"{of(right)} were left out of a condition")
            yield Edit(right, f"{of(left)} were left out of a condition")
            other = ast.BitOr() if isinstance(node.op, ast.BitAnd) else ast.BitAnd()
            yield _with(node, other, "`&` stood where `|` belongs, or the other way round")


def _with(node: ast.BinOp, op: ast.operator, as_if: str) -> Edit:
    return Edit(changed(node, op=op), as_if)


def _turned(node: ast.expr) -> ast.expr:
    return ast.Attribute(value=node, attr="mT", ctx=ast.Load())


def comparisons(site: Site) -> Edits:
    """Turn a comparison, or move its edge."""
    if isinstance(site.node, ast.Compare) and len(site.node.ops) == 1:
        for other, how in _COMPARISONS.get(type(site.node.ops[0]), ()):
            yield Edit(changed(site.node, ops=[other()]), f"a comparison {how}")
    if isinstance(site.node, ast.BoolOp):
        for value in site.node.values:
            yield Edit(value, "a part of a condition were left out")


def signs(site: Site) -> Edits:
    """Leave out a sign or a negation, or add one to what is returned or masked with."""
    node, of = site.node, site.words.of
    if isinstance(node, ast.UnaryOp) and integer(node) is None:
        what = {ast.USub: "the sign of {} were turned", ast.Invert: "{} were inverted"}
        text = what.get(type(node.op), "a `not` were left out")
        yield Edit(node.operand, text.format(of(node.operand)))
    elif isinstance(node, ast.Name) and "mask" in node.id and is_loaded(site):
        yield Edit(ast.UnaryOp(ast.Invert(), node), f"{of(node)} were inverted")


def constants(site: Site) -> Edits:
    """Change a number or a truth value."""
    node = site.node
    whole = integer(node)
    if whole is not None and not _is_signed(site.parent):
        for other in (whole + 1, whole - 1, -whole):
            yield Edit(constant(other), _as_other(site, whole, other))
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        where = f"`{site.parent.arg}`" if isinstance(site.parent, ast.keyword) else "a truth value"
        yield Edit(ast.Constant(not value), f"{where} were {not value}")
    elif isinstance(value, float):
        for factor in (2, 0.5, 10, 0, -1):
            told = f"a constant {value:g} were {factor * value:g}"
            yield Edit(constant(factor * value), told)


def _is_signed(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _as_other(site: Site, value: int, other: int) -> str:
    """Say what another whole number means where it stands."""
    place: Any = site.parent
    is_size = isinstance(place, ast.Call) and called(place) == "size"
    if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Attribute):
        is_size = place.value.attr == "shape"
    if is_size:
        return f"the size of axis {other} were taken for that of axis {value}"
    return f"a {value} were {other}{inside(site)}"


OPERATORS: tuple[Callable[[Site], Edits], ...] = (terms, signs, comparisons, constants)
