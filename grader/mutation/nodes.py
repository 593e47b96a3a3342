"""What a node of a syntax tree is."""

import ast
from typing import Any

from grader.mutation.edits import Site
from grader.mutation.words import called


def is_library(node: ast.expr) -> bool:
    """Return whether an expression is a library or a part of one."""
    return (
        isinstance(node, ast.Name) and node.id in ("torch", "nn", "F", "math", "copy", "init")
    ) or (isinstance(node, ast.Attribute) and is_library(node.value))


def integer(node: ast.AST) -> int | None:
    """Return the whole number that an expression writes, if it writes one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def constant(value: float) -> ast.expr:
    """Write a number."""
    number = ast.Constant(abs(value))
    return ast.UnaryOp(ast.USub(), number) if value < 0 else number


def inside(site: Site) -> str:
    """Say in what a node stands, as " in ...", if that helps."""
    place: Any = site.parent
    if isinstance(place, ast.Call):
        return f" in `{called(place)}`"
    return " in a slice or index" if isinstance(place, (ast.Slice, ast.Subscript)) else ""


def is_loaded(site: Site) -> bool:
    """Return whether a name or an attribute is read, not set."""
    return isinstance(getattr(site.node, "ctx", None), ast.Load)
