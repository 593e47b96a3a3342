"""One-place changes of statements: left out, stopped early, repeated or taken without condition."""

import ast
from collections.abc import Callable

from grader.mutation.edits import Edit, Edits, Site, changed
from grader.mutation.words import BETWEEN, Words, called


def left_out(site: Site) -> Edits:
    """Leave a statement out."""
    node = site.node
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Assert, ast.Raise)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield Edit(ast.Pass(), f"{_named(node, site.words)} were left out")


def conditions(site: Site) -> Edits:
    """Do what is conditional always, or never."""
    node = site.node
    if isinstance(node, ast.If):
        what = _named(node.body[0], site.words)
        yield Edit(_block(node.orelse), f"{what} were left out, which depends on a condition")
        default = _default_of(node, site.words)
        as_if = (
            f"no {default} were given" if default else f"{what} came whatever the condition says"
        )
        yield Edit(_block(node.body), as_if)


def loops(site: Site) -> Edits:
    """End a loop after its first step, or never enter it."""
    node = site.node
    if isinstance(node, (ast.For, ast.While)):
        yield Edit(
            changed(node, body=[*node.body, ast.Break()]), "a loop ended after its first step"
        )
        yield Edit(ast.Pass(), "a loop were left out")
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Name):
        yield Edit(ast.Return(None), "nothing were returned")


def _block(body: list[ast.stmt]) -> ast.AST:
    always = ast.If(test=ast.Constant(True), body=body, orelse=[])
    return always if body else ast.Pass()


def _default_of(node: ast.If, words: Words) -> str:
    """Return the name that a condition gives a value where it is None; "" if that is not it."""
    match node:
        case ast.If(
            test=ast.Compare(
                left=ast.Name(id=asked), ops=[ast.Is()], comparators=[ast.Constant(value=None)]
            ),
            body=[ast.Assign(targets=[ast.Name(id=given) as target])],
            orelse=[],
        ) if asked == given:
            told = words.of(target)
            return told if told != BETWEEN else ""
    return ""


_PLAIN: dict[type[ast.stmt], str] = {
    ast.Raise: "the error",
    ast.Return: "an early return",
    ast.Assert: "an assert",
}


def _named(node: ast.AST, words: Words) -> str:
    """Describe a statement by what it sets, or by the function that it calls."""
    match node:
        case ast.Assign(targets=[target], value=value) | ast.AugAssign(target=target, value=value):
            told = words.of(target)
            verb = "sets" if isinstance(node, ast.Assign) else "changes"
            return f"the step that {verb} {told}" if told != BETWEEN else _step(value, words)
        case ast.Expr(value=ast.Call() as call):
            return f"the call of `{called(call)}`"
        case ast.stmt():
            return _PLAIN.get(type(node), "a step")
    return "a step"


def _step(value: ast.expr, words: Words) -> str:
    return f"the step with {words.of(value)}" if isinstance(value, ast.Call) else "a step"


OPERATORS: tuple[Callable[[Site], Edits], ...] = (left_out, conditions, loops)
