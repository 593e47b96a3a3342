"""What a cell's text says, read once: most cells of a submission are the lesson's own."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

from IPython.core.inputtransformer2 import TransformerManager

from grader.engine.reaching import dotted

DYNAMIC: Final = {"exec", "eval", "globals", "locals", "vars", "__import__", "get_ipython"}
KEPT: Final = 256  # cells
LONGEST_KEPT: Final = 4000  # characters: what is kept stays small whatever is submitted
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Statement:
    """A top-level statement of a cell, and what it does.

    Attributes:
        code: its syntax tree.
        imports: the imports in it.
        changed: names whose objects it changes: x in ``x.a = 1``, ``x[0] = 1``, ``setattr(x)``.
        bound: names that it binds, imports apart.
        dynamic: it may bind names unseen (``exec(...)``, ``globals()[...] = ...``).
    """

    code: ast.stmt
    imports: tuple[ast.Import | ast.ImportFrom, ...]
    changed: frozenset[str]
    bound: frozenset[str]
    dynamic: bool


def kept(read: Callable[[str], Result]) -> Callable[[str], Result]:
    """Remember what was read of the last few cells, very long ones excepted."""
    remembered = lru_cache(KEPT)(read)
    return lambda source: remembered(source) if len(source) <= LONGEST_KEPT else read(source)


@kept
def as_python(source: str) -> str:
    """A cell's text with IPython's magics turned into calls; as it is where that fails."""
    try:
        return TransformerManager().transform_cell(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source


@kept
def statements(source: str) -> tuple[Statement, ...]:
    """The top-level statements of a cell; none where it does not parse, and so does not run."""
    try:
        return tuple(map(_statement, ast.parse(as_python(source)).body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def calls(node: ast.AST, names: set[str]) -> bool:
    """Whether a node calls one of some names, whatever it is called on."""
    return isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in names


def _statement(code: ast.stmt) -> Statement:
    nodes = list(_outside_functions(code))
    return Statement(
        code=code,
        imports=tuple(n for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom))),
        changed=frozenset(_changed_roots(nodes)),
        bound=frozenset(_bound_names(code, nodes)),
        dynamic=any(calls(node, DYNAMIC) for node in nodes),
    )


def _outside_functions(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement's nodes, functions' insides left out."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            stack.extend(ast.iter_child_nodes(node))


def _bound_names(statement: ast.stmt, nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
    for node in ast.walk(statement):
        if isinstance(node, ast.Global):
            yield from node.names


def _changed_roots(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            yield _root(node)
        elif isinstance(node, ast.Call) and calls(node, {"setattr", "delattr"}) and node.args:
            yield _root(node.args[0])


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
