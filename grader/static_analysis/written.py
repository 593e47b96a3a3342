"""Find the answers that a cell writes: a stub defines an answer's name and writes none."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from grader.static_analysis.cells import Statement, bound_by, statements
from grader.static_analysis.names import imported

Form = tuple[tuple[object, ...], ...]
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
ASSIGNMENTS: Final = (ast.Assign, ast.AnnAssign)


def stubs_of(released: Mapping[str, str]) -> dict[str, Form]:
    """Return the form of each stub, by exercise.

    Args:
        released: exercise -> its cell as students get it.

    """
    return {name: _stub(name, source) for name, source in released.items()}


def answers_in(source: str, stubs: Mapping[str, Form]) -> dict[str, bool]:
    """Return the exercises that a cell defines, and whether the last definition of each is written.

    Args:
        source: the cell's code as Python.
        stubs: what `stubs_of` found.

    """
    found: dict[str, bool] = {}
    for one in statements(source):
        for name in stubs.keys() & set(_names_defined(one)):
            found[name] = not _is_empty(one.code) and _form(one.code) != stubs[name]
    return found


@lru_cache(256)
def _stub(name: str, source: str) -> Form:
    defining = [one.code for one in statements(source) if name in _names_defined(one)]
    return _form(defining[-1]) if defining else ()


def _names_defined(one: Statement) -> Iterable[str]:
    """Return what a statement binds in the notebook, and not in a class or a comprehension."""
    code = one.code
    if isinstance(code, (*FUNCTIONS, ast.ClassDef)):
        return [code.name]
    if isinstance(code, ASSIGNMENTS):
        return _names_assigned(code)
    if isinstance(code, ast.Expr):
        return []
    return [*one.bound, *(name for name, _ in imported(one.imports))]


def _names_assigned(code: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    targets = code.targets if isinstance(code, ast.Assign) else [code.target]
    for target in targets if code.value is not None else ():
        yield from (name for node in ast.walk(target) for name in bound_by(node))


def _is_empty(code: ast.stmt) -> bool:
    """Return whether a definition has nothing in it: no code, `pass`, NotImplementedError, None."""
    if isinstance(code, ASSIGNMENTS):
        return isinstance(code.value, ast.Constant) and code.value.value in (None, ...)
    if isinstance(code, ast.ClassDef):
        return all(_does_nothing(one) or _is_empty(one) for one in code.body)
    return isinstance(code, FUNCTIONS) and all(map(_does_nothing, code.body))


def _does_nothing(code: ast.stmt) -> bool:
    if isinstance(code, ast.Raise):
        raised = code.exc.func if isinstance(code.exc, ast.Call) else code.exc
        return isinstance(raised, ast.Name) and raised.id == NotImplementedError.__name__
    return isinstance(code, ast.Pass) or _is_text(code)


def _is_text(part: object) -> bool:
    """Return whether a statement is a constant alone: a docstring, or three dots."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def _form(code: ast.stmt) -> Form:
    """Return a syntax tree as a flat list, without the texts that stand in it.

    Python's own way to write a tree down gives up on what is deeply nested.
    """
    found: list[tuple[object, ...]] = []
    waiting: list[ast.AST] = [code]
    while waiting:
        node = waiting.pop()
        found.append((type(node), *_fields(node)))
        waiting += (part for part in ast.iter_child_nodes(node) if not _is_text(part))
    return tuple(found)


def _fields(node: ast.AST) -> Iterator[object]:
    """Yield a node's fields with how many nodes each has, or its value if that is none."""
    for field, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else [value]
        yield field
        yield from (isinstance(p, ast.AST) or (type(p), p) for p in parts if not _is_text(p))
