"""What a cell's text says, read once: most cells of a submission are the lesson's own."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

from IPython.core.inputtransformer2 import TransformerManager

from grader.static_analysis.magics import with_code_of_line_magics, without_cell_magic

KEPT: Final = 256  # cells
LONGEST_KEPT: Final = 4000  # characters: what is kept stays small, whatever is submitted
LONGEST_WITH_MAGICS: Final = 20_000  # characters
MOST_READ: Final = 400_000  # characters, in all readings of a cell: one for each of its magics
Result = TypeVar("Result")


@dataclass(frozen=True)
class Statement:
    """A top-level statement of a cell, and what it does.

    Attributes:
        code: its syntax tree.
        nodes: all that is in it; several questions are asked of each.
        imports: the imports in it.
        bound: names that it binds, imports apart.

    """

    code: ast.stmt
    nodes: tuple[ast.AST, ...]
    imports: tuple[ast.Import | ast.ImportFrom, ...]
    bound: frozenset[str]


def kept(read: Callable[[str], Result]) -> Callable[[str], Result]:
    """Remember what was read from recent cells, except very long ones."""
    remembered = lru_cache(KEPT)(read)
    return lambda source: remembered(source) if len(source) <= LONGEST_KEPT else read(source)


class _Transformer(TransformerManager):
    """IPython's transformer, which gives up on a cell that is too long for its many magics.

    It reads the whole cell again for each of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._read = 0

    def do_one_token_transform(self, lines: list[str]) -> tuple[bool, list[str]]:
        """Turn the first magic into a call, and count what is read for that."""
        self._read += sum(map(len, lines))
        if self._read > MOST_READ:
            raise ValueError("too many magics")
        changed, lines = super().do_one_token_transform(lines)
        return changed, lines


def as_python(source: str) -> str:
    """Return a cell's text with the code of IPython's magics in their place.

    It is unchanged if that fails, and if it is Python as it stands.
    """
    return _transformed(source) if len(source) <= LONGEST_WITH_MAGICS else source


@lru_cache(KEPT)
def _transformed(source: str) -> str:
    if _parsed(source) is not None:
        return source
    try:
        return with_code_of_line_magics(_Transformer().transform_cell(without_cell_magic(source)))
    except Exception:  # IPython's transformer raises errors of every kind on odd text
        return source


def as_any_editor(source: str) -> str:
    """Return a cell's text without what editors change: line ends, and blanks behind lines."""
    return "\n".join(map(str.rstrip, source.strip().splitlines()))


def statements(source: str) -> tuple[Statement, ...]:
    """Return the top-level statements of a cell; none if it cannot be read."""
    return _read(source) or ()


def is_readable(source: str) -> bool:
    """Return whether a cell's syntax tree can be read; what cannot be read must not run."""
    return _read(source) is not None


@kept
def _read(source: str) -> tuple[Statement, ...] | None:
    tree = _parsed(as_python(source))
    return None if tree is None else tuple(map(_statement, tree.body))


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _statement(code: ast.stmt) -> Statement:
    nodes, outside = tuple(ast.walk(code)), list(outside_functions(code))
    return Statement(
        code=code,
        nodes=nodes,
        imports=tuple(n for n in outside if isinstance(n, (ast.Import, ast.ImportFrom))),
        bound=frozenset(_bound_names(nodes, outside)),
    )


def outside_functions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield a statement's nodes except function bodies (decorators and defaults are evaluated)."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(_evaluated(node))


def _evaluated(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.Lambda):
        return [node.args]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
    return ast.iter_child_nodes(node)


def bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that one node binds in its own scope: by assignment, pattern, ``except``."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _bound_names(nodes: Iterable[ast.AST], outside: Iterable[ast.AST]) -> Iterator[str]:
    for node in outside:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        yield from bound_by(node)
    for node in nodes:
        if isinstance(node, ast.Global):
            yield from node.names
