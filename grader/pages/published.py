"""Answers that are the course's published text, whatever their layout and their own names.

The solutions are public, so whoever copies one has its points. This finds them for a person to
judge. Short answers are left out: there are few ways to write them.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
LEAST_NODES: Final = 55  # of a syntax tree, besides the stub's: about four short lines


def published(
    sources: Mapping[str, str], solutions: Mapping[str, str], stubs: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the exercises whose answers are the published text.

    Args:
        sources: exercise -> a student's cell.
        solutions: exercise -> the solution's cell.
        stubs: exercise -> the cell that students were given.

    """
    long = (n for n, s in solutions.items() if size(s) - size(stubs.get(n, "")) >= LEAST_NODES)
    return tuple(n for n in long if meaning(sources.get(n, "")) == meaning(solutions[n]))


def size(source: str) -> int:
    """Return how many nodes the syntax tree of code has; 0 if it cannot be read."""
    try:
        return sum(1 for _ in ast.walk(ast.parse(source)))
    except UNREADABLE:
        return 0


def meaning(source: str) -> str:
    """Return code without layout, comments, docstrings, imports, annotations and its own names."""
    try:
        tree = ast.parse(source)
        return ast.dump(_Plain(_own_names(tree)).visit(tree))
    except UNREADABLE:
        return ""


def _own_names(tree: ast.AST) -> dict[str, str]:
    """Return arguments and variables, each with a name that says only which one it is."""
    found: dict[str, str] = {}
    for name in _bound(tree):
        found.setdefault(name, f"v{len(found)}")
    return found


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


class _Plain(ast.NodeTransformer):
    """Takes out what does not count, and renames.

    Args:
        names: old -> new.

    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Import(self, _node: ast.Import) -> None:
        """Leave out an import."""

    def visit_ImportFrom(self, _node: ast.ImportFrom) -> None:
        """Leave out an import."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Leave out docstrings, and other values that nothing is done with."""
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """Turn an annotated assignment into a plain one."""
        if node.value is None:
            return None
        return self.generic_visit(ast.Assign([node.target], node.value))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Leave out what a function says of its result."""
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Rename an argument, without its annotation."""
        return ast.arg(self._names[node.arg])

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Rename a variable."""
        return ast.Name(self._names.get(node.id, node.id), node.ctx)
