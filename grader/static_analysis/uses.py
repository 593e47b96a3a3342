"""The names that a statement uses, and how: the way from one definition to the next."""

import ast
from typing import NamedTuple

from grader.static_analysis.cells import FUNCTIONS, bound_by, outside_functions


class Use(NamedTuple):
    """A name as some code uses it.

    Attributes:
        name: the name.
        held: whether it is more than called, so that what is attached to a function may matter.
        early: whether it is looked up when its cell runs, before stand-ins replace earlier
            exercises.

    """

    name: str
    held: bool
    early: bool


def uses(statement: ast.stmt, *, early: bool) -> set[Use]:
    """Return the names that a statement uses and does not bind itself.

    Args:
        statement: a top-level statement.
        early: whether its functions are called when a cell runs, not only when an answer is
            observed.

    """
    nodes = list(ast.walk(statement))
    own = _own_names(statement, nodes)
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    late = set() if early else _inside_functions(statement)
    return {
        Use(n.id, id(n) not in called, id(n) not in late)
        for n in nodes
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id not in own
    }


def _own_names(statement: ast.stmt, nodes: list[ast.AST]) -> set[str]:
    own = {n.arg for n in nodes if isinstance(n, ast.arg)}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        own |= {name for n in nodes for name in bound_by(n)}
        own -= {name for n in nodes if isinstance(n, ast.Global) for name in n.names}
    return own


def _inside_functions(statement: ast.stmt) -> set[int]:
    functions = [node for node in outside_functions(statement) if isinstance(node, FUNCTIONS)]
    inside = {id(node) for function in functions for node in ast.walk(function)}
    return inside - set(map(id, outside_functions(statement)))


def takes_stand_ins(definitions: list[ast.stmt]) -> bool:
    """Return whether an answer is plainly a function or class, whose globals take stand-ins."""
    return bool(definitions) and all(map(_is_plain, definitions))


def _is_plain(code: ast.stmt) -> bool:
    if isinstance(code, ast.FunctionDef):
        return not code.decorator_list
    if not isinstance(code, ast.ClassDef) or code.decorator_list or code.keywords:
        return False
    # Its first function decides where stand-ins are put: see utils.checks.framework.substitution.
    body = code.body[1:] if ast.get_docstring(code) is not None else code.body
    first = body[0] if body else None
    return isinstance(first, ast.FunctionDef) and _is_plain(first)
