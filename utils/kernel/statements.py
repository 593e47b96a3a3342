"""Read a cell's statements, and the names that each gives a value or reads."""

import ast
import re
import symtable
from collections.abc import Iterator
from typing import Any, Final

MAGIC: Final = re.compile(r"(?m)^[ \t]*[%!?].*$")


def statements_of(source: str) -> list[ast.stmt]:
    """Return a cell's statements, less its magics; none if it is not Python."""
    for text in (source, MAGIC.sub("", source)):
        try:
            return ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return []


def names_given(statement: ast.stmt) -> frozenset[str]:
    """Return the names that a statement gives a value."""
    symbols = scope_of(statement).get_symbols()
    return frozenset(s.get_name() for s in symbols if s.is_assigned() or s.is_imported())


def names_read(statement: ast.stmt) -> set[str]:
    """Return the global names that a statement reads, in functions too, but no local variables."""
    return set(_globals_read(scope_of(statement)))


def scope_of(statement: ast.stmt) -> symtable.SymbolTable:
    """Return the compiler's table of the names of a statement that stands alone in a module.

    From Python 3.12 on the compiler puts a list's own variables into the scope around it, as if
    the notebook had them. It leaves generators alone, so lists are looked at as generators.
    """
    copy = ast.parse(ast.unparse(statement))
    return symtable.symtable(ast.unparse(_AsGenerators().visit(copy)), "<cell>", "exec")


class _AsGenerators(ast.NodeTransformer):
    """Turns lists, sets and dictionaries that are made in a loop into generators."""

    def visit(self, node: ast.AST) -> Any:
        """Take a loop's place, and look inside."""
        if isinstance(node, ast.DictComp):
            node = ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)
        elif isinstance(node, (ast.ListComp, ast.SetComp)):
            node = ast.GeneratorExp(node.elt, node.generators)
        return self.generic_visit(node)


def _globals_read(scope: symtable.SymbolTable) -> Iterator[str]:
    is_module = scope.get_type() == "module"
    for symbol in scope.get_symbols():
        if symbol.is_referenced() and (is_module or symbol.is_global()):
            yield symbol.get_name()
    for inner in scope.get_children():
        yield from _globals_read(inner)
