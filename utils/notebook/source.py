"""Find the definition of a name in a notebook, with what it needs and nothing else.

Nothing is run here: cells are read as syntax trees. Only the imports, functions, classes and
assignments that the name needs are taken; demonstrations, training runs and checks are left out.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from utils.kernel.statements import names_read, statements_of

LARGEST_NOTEBOOK = 100_000_000  # bytes


class NotFoundInNotebook(Exception):
    """The notebook cannot be read, or does not define the name."""


@dataclass(frozen=True)
class Definition:
    """A top-level statement of a cell that gives names a value.

    Attributes:
        names: the names that it defines.
        statement: its syntax tree.
        exercise: the exercise whose cell it is in, if any.

    """

    names: frozenset[str]
    statement: ast.stmt
    exercise: str | None

    @property
    def uses(self) -> set[str]:
        """Return the global names that it reads, in functions too, but no local variables."""
        return names_read(self.statement)


def source_of(notebook: Path, name: str) -> str:
    """Return Python source that defines a name as the notebook does, in the notebook's order.

    If a name is defined more than once, its exercise's cell counts, else the last definition; of
    imports all are kept, since a definition between them needs the earlier one.

    Raises:
        NotFoundInNotebook: there is no such notebook, or no such name in it.

    """
    definitions = read_definitions(notebook)
    chosen: set[int] = {i for i, d in enumerate(definitions) if _is_always_needed(d.statement)}
    wanted, seen = [name], {name}
    while wanted:
        for found in set(_defining(definitions, wanted.pop())) - chosen:
            chosen.add(found)
            new = definitions[found].uses - seen
            seen |= new
            wanted += sorted(new)
    if not any(name in definitions[i].names for i in chosen):
        raise NotFoundInNotebook(_why_undefined(notebook, name))
    in_order = sorted(chosen, key=lambda i: (not _is_future(definitions[i].statement), i))
    return "\n".join(ast.unparse(definitions[i].statement) for i in in_order) + "\n"


def _why_undefined(notebook: Path, name: str) -> str:
    """Say why nothing defines a name: perhaps a cell that does cannot be read as Python."""
    begins = re.compile(rf"(?m)^(?:def|class) {re.escape(name)}\b|^{re.escape(name)}\s*=")
    for cell in _code_cells(notebook):
        if not statements_of(_text_of(cell)) and begins.search(_text_of(cell)):
            return f"the cell that defines {name} has a syntax error"
    return f"it does not define {name}"


def read_definitions(notebook: Path) -> list[Definition]:
    """Return all definitions in a notebook's code cells, in order; non-Python cells have none.

    Raises:
        NotFoundInNotebook: the file is missing, too large or not a notebook.

    """
    return [
        Definition(frozenset(names), statement, _exercise_of(cell))
        for cell in _code_cells(notebook)
        for statement in statements_of(_text_of(cell))
        if (names := _names(statement))
    ]


def _code_cells(notebook: Path) -> list[dict[str, Any]]:
    try:
        if notebook.stat().st_size > LARGEST_NOTEBOOK:
            raise NotFoundInNotebook("it is too large to be read")
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        return [dict(cell) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise NotFoundInNotebook("it cannot be read as a notebook") from None


def _text_of(cell: dict[str, Any]) -> str:
    lines = cell.get("source", "")
    return lines if isinstance(lines, str) else "".join(map(str, lines))


def _exercise_of(cell: dict[str, Any]) -> str | None:
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return str(about.get("grade_id")) if isinstance(about, dict) else None


def _names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement defines; other kinds of statement have none."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).partition(".")[0] for a in statement.names}
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return set(_assigned(statement))
    return set()


def _assigned(statement: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        yield from (part.id for part in parts if isinstance(part, ast.Name))


def _defining(definitions: list[Definition], name: str) -> list[int]:
    """Return the places of the definition that counts and, if it is an import, of all others."""
    places = [i for i, d in enumerate(definitions) if name in d.names]
    own = [i for i in places if definitions[i].exercise == name]
    chosen = (own or places)[-1:]
    if chosen and _is_import(definitions[chosen[0]].statement):
        return [i for i in places if _is_import(definitions[i].statement)]
    return chosen


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom))


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _is_always_needed(statement: ast.stmt) -> bool:
    """Return whether an import is always kept: `from x import *`, `from __future__ import ...`."""
    if not isinstance(statement, ast.ImportFrom):
        return False
    return _is_future(statement) or any(alias.name == "*" for alias in statement.names)
