"""Read off a cell's source which names it makes, needs and changes.

Nothing is run. It says what a cell that stopped, or never ran, would have given to later ones.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from utils.kernel.statements import names_given, names_read, statements_of

# Methods that change what they are called on, by their usual names.
CHANGING = re.compile(
    "add|append|appendleft|clear|discard|extend|insert|load_state_dict|pop|popitem|remove|"
    r"setdefault|sort|update|\w+_"
)
Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class CellNames:
    """The names of a cell.

    Attributes:
        makes: those that it gives a value.
        needs: those that it reads, at once or in its functions.
        changes: those whose entries or attributes it sets, in its functions too.

    """

    makes: frozenset[str]
    needs: frozenset[str]
    changes: frozenset[str]

    @property
    def gives(self) -> frozenset[str]:
        """Return the names that later cells find in another state after it."""
        return self.makes | self.changes


def names_of(cell: str, functions: Mapping[str, ast.stmt] | None = None) -> CellNames:
    """Return a cell's names, with those that it reaches through functions of earlier cells.

    Args:
        cell: its source; one that is not Python has no names.
        functions: name -> definition of the notebook's functions and classes.

    """
    known, own = functions or {}, _making(cell)
    reached, waiting = list(own), list(own)
    while waiting:
        for name in _read(waiting.pop()) & known.keys():
            if known[name] not in reached:
                reached.append(known[name])
                waiting.append(known[name])
    makes = frozenset(name for statement in own for name in _given(statement))
    needs = frozenset(name for statement in reached for name in _read(statement))
    return CellNames(makes, needs - makes, frozenset(_changed(reached)) & (needs | makes))


def functions_in(cell: str) -> dict[str, ast.stmt]:
    """Return the definitions of a cell's functions and classes by name."""
    return {s.name: s for s in statements_of(cell) if isinstance(s, Function)}


def made_before(cell: str, line: int | None) -> frozenset[str]:
    """Return the names that a cell has certainly made when it comes to a line, or to its end."""
    done = [s for s in statements_of(cell) if line is None or (s.end_lineno or 0) < line]
    whole = (*Function, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)
    made = (s for s in done if isinstance(s, whole) and getattr(s, "value", True) is not None)
    return frozenset(name for statement in made for name in _given(statement))


def made_from(cell: str, line: int | None) -> frozenset[str]:
    """Return the names that a cell gives a value in a line or below it, or anywhere."""
    left = (s for s in _making(cell) if line is None or (s.end_lineno or 0) >= line)
    return frozenset(name for statement in left for name in _given(statement))


def means_to_make(cell: str, name: str) -> bool:
    """Return whether a cell gives a name a value, or would if it were right Python."""
    if statements := _making(cell):
        return any(name in _given(statement) for statement in statements)
    named = re.escape(name)
    given = rf"(?:async )?(?:def|class)\s+{named}\b|{named}\s*(?::[^=\n]+)?=(?!=)"
    return re.search(rf"^(?:{given}|(?:from .+ )?import .*\b{named}\b)", cell, re.M) is not None


_given, _read = lru_cache(1000)(names_given), lru_cache(1000)(names_read)


def _making(cell: str) -> list[ast.stmt]:
    """Return the statements that may give names a value; to Python's tables `del` does, too."""
    return [s for s in statements_of(cell) if not isinstance(s, ast.Delete)]


def _changed(statements: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        for node in ast.walk(statement):
            is_set = isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(
                node.ctx, ast.Load
            )
            if is_set or _is_changing_call(node):
                yield from _root(node.func if isinstance(node, ast.Call) else node)


def _is_changing_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and CHANGING.fullmatch(node.func.attr) is not None
    )


def _root(node: ast.AST) -> Iterator[str]:
    """Return the name that subscripts and attributes start from: `a` of `a[1].b`."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
