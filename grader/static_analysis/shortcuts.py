"""Name what an answer uses that its exercise asks to build, by reading its syntax tree.

Nothing is run and nothing is decided here. Such an answer earns nothing because what it uses is
absent where it is observed; reading only finds the sentence that says so. It finds what people
plainly write, not what somebody hides.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from grader.static_analysis.cells import Statement
from grader.static_analysis.guarded import guarded
from grader.static_analysis.names import Scope, dotted, import_paths
from grader.static_analysis.program import Program, read_program
from utils.checks.registry import probes

HOMES: Final = ("torch", "utils")
METHODS_OF: Final = "torch.Tensor."


def shortcuts_in(sources: Sequence[str], forbidden: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Name the first shortcut that each exercise's code reaches.

    Args:
        sources: the notebook's code cells, in order.
        forbidden: exercise -> dotted names that it rules out.

    Returns:
        exercise -> one sentence for the student; none if the code cannot be read.

    """
    return guarded(lambda: _shortcuts_in(sources, forbidden), {})


def _shortcuts_in(sources: Sequence[str], forbidden: Mapping[str, Sequence[str]]) -> dict[str, str]:
    program = read_program(sources)
    found = {name: _first(program, name, names) for name, names in forbidden.items() if names}
    return {name: _says(path) for name, path in found.items() if path}


def _first(program: Program, exercise: str, forbidden: Sequence[str]) -> str:
    """Return the first ruled-out path in the code that an exercise's name reaches, else ""."""
    last = {name.rpartition(".")[2] for name in forbidden}
    methods = {name.removeprefix(METHODS_OF) for name in forbidden if name.startswith(METHODS_OF)}
    paths = _paths(program, exercise)
    return next((p for p in paths if not _wanted(p, last, methods).isdisjoint(p.split("."))), "")


def _wanted(path: str, last: set[str], methods: set[str]) -> set[str]:
    return last if path.startswith(HOMES) else methods


def _paths(program: Program, exercise: str) -> Iterator[str]:
    """Yield what an exercise's code names, directly or through other names of the notebook.

    Names that a stand-in replaces while the exercise is observed are left out.
    """
    waiting, seen = [exercise], set(probes()[exercise].stand_ins) - {exercise}
    read: set[int] = set()  # a statement may bind many names
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        yield program.aliases.get(name, name)
        unread = [s for s in program.definitions.get(name, []) if id(s) not in read]
        read.update(map(id, unread))
        for statement in unread:
            yield from _named_in(statement, program)
            waiting += sorted(_asks_for(statement))


def _asks_for(statement: Statement) -> set[str]:
    """Return the names that a statement takes from the rest of the notebook."""
    names = [node for node in statement.nodes if isinstance(node, ast.Name)]
    asked = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    if not isinstance(statement.code, (ast.FunctionDef, ast.ClassDef)):
        return asked
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return asked - own - {node.arg for node in statement.nodes if isinstance(node, ast.arg)}


def _named_in(statement: Statement, program: Program) -> Iterator[str]:
    """Yield the dotted paths in a statement, with imports put in the place of their names."""
    scope = Scope(statement.nodes, program.aliases)
    for node in scope.nodes():
        yield from import_paths(node)
        path = dotted(node)
        if path.partition(".")[0] not in scope.receivers:
            yield scope.resolve(path) or f".{getattr(node, 'attr', '')}"


def _says(path: str) -> str:
    return (
        f"`{path.strip('.')}` does what this exercise asks you to build and is not there while "
        "grading: write it yourself."
    )
