"""A notebook's top-level statements, sorted by what they do to names."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from grader.static_analysis.cells import Statement, statements
from grader.static_analysis.names import imported

MOST_PATHS: Final = 8  # that imports may give one name
Definitions = dict[str, list[ast.stmt]]


@dataclass
class Program:
    """The top-level statements of a notebook.

    Attributes:
        definitions: name -> the statements that bind it.
        handled: name -> the statements whose calls may change its object (``name.append(x)``).
        effects: statements that change what was imported (``torch.x = ...``, ``setattr(F, ...)``).
        dynamic: statements that may bind names unseen (``exec(...)``, ``globals()[...] = ...``).
        aliases: name -> dotted paths that imports give it ("F" -> "torch.nn.functional").
        stars: modules imported with ``*``.

    """

    definitions: Definitions = field(default_factory=dict)
    handled: Definitions = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)
    dynamic: list[ast.stmt] = field(default_factory=list)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)


def read_program(sources: Sequence[str]) -> Program:
    """Collect definitions, imports and effects of all cells that parse."""
    program = Program()
    for source in sources:
        for statement in statements(source):
            _take(program, statement)
    return program


def _take(program: Program, statement: Statement) -> None:
    for node in statement.imports:
        _take_import(program, node)
    for name in statement.bound | (statement.changed - program.aliases.keys()):
        program.definitions.setdefault(name, []).append(statement.code)
    for name in statement.handled - program.aliases.keys():
        program.handled.setdefault(name, []).append(statement.code)
    if statement.changed & program.aliases.keys():
        program.effects.append(statement.code)
    if statement.dynamic:
        program.dynamic.append(statement.code)


def _take_import(program: Program, node: ast.Import | ast.ImportFrom) -> None:
    for name, path in imported([node]):
        if name == "*":
            program.stars.append(path.removesuffix(".*"))
        elif path not in program.aliases.setdefault(name, []):
            program.aliases[name].append(path)


def readings(program: Program) -> list[dict[str, str]]:
    """Return what names may stand for; together, the readings give a name each of its paths."""
    most = max(map(len, program.aliases.values()), default=1)
    return [
        {name: paths[min(n, len(paths) - 1)] for name, paths in program.aliases.items()}
        for n in range(min(most, MOST_PATHS))
    ]
