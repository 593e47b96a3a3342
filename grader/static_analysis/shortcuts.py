"""Name what an answer uses that its exercise asks to build, by reading its syntax tree.

Nothing is run and nothing is decided here. Such an answer earns nothing because what it uses is
absent where it is observed; reading only finds the sentence that says so. It finds what people
plainly write, not what somebody hides.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from grader.static_analysis.cells import Statement, bound_by, kept, statements
from grader.static_analysis.guarded import guarded
from grader.static_analysis.names import Scope, dotted, import_paths
from grader.static_analysis.program import Program, read_program
from utils.checks.registry import probes

HOMES: Final = {"torch", "utils"}
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
    own = frozenset[str]().union(*map(_own_attributes, sources))
    found = {name: _first(program, name, names, own) for name, names in forbidden.items() if names}
    return {name: _says(path) for name, path in found.items() if path}


def _first(program: Program, exercise: str, forbidden: Sequence[str], own: frozenset[str]) -> str:
    """Return the first ruled-out path in the code that an exercise's name reaches, else ""."""
    last = {name.rpartition(".")[2] for name in forbidden}
    methods = {name.removeprefix(METHODS_OF) for name in forbidden if name.startswith(METHODS_OF)}
    paths = _paths(program, exercise)
    return next((path for path in paths if _is_ruled_out(path, last, methods - own)), "")


def _is_ruled_out(path: str, last: set[str], methods: set[str]) -> bool:
    """Return whether a path leads to something ruled out: a bare name is the notebook's own."""
    root, *attributes = path.split(".")
    return not (last if root in HOMES else methods).isdisjoint(attributes)


@kept
def _own_attributes(source: str) -> frozenset[str]:
    """Return what a cell's own objects have: methods, and all else that it sets on a class."""
    nodes = (node for statement in statements(source) for node in statement.nodes)
    return frozenset(name for node in nodes for name in _set_on_objects(node))


def _set_on_objects(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    for member in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
            yield member.name
        yield from (name for part in ast.iter_child_nodes(member) for name in bound_by(part))


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
        if name not in program.definitions:
            yield program.aliases.get(name, name)
        unread = [s for s in program.definitions.get(name, []) if id(s) not in read]
        read.update(map(id, unread))
        for statement in unread:
            yield from _named_in(statement, program)
            waiting += sorted(_asks_for(statement))


def _asks_for(statement: Statement) -> set[str]:
    """Return the names that a statement takes from the rest of the notebook."""
    names = (node for node in statement.nodes if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - _of_its_own(statement)


def _of_its_own(statement: Statement) -> set[str]:
    """Return the names that mean something else within a statement than outside of it."""
    own = {node.arg for node in statement.nodes if isinstance(node, ast.arg)}
    if not isinstance(statement.code, (ast.FunctionDef, ast.ClassDef)):
        return own
    names = (node for node in statement.nodes if isinstance(node, ast.Name))
    return own | {node.id for node in names if isinstance(node.ctx, ast.Store)}


def _named_in(statement: Statement, program: Program) -> Iterator[str]:
    """Yield the dotted paths in a statement, with imports put in the place of their names.

    What begins with a name of the notebook is the notebook's own. What a name of the statement
    stands for is not known: a tensor, perhaps, which has methods.
    """
    scope = Scope(statement.nodes, program.aliases)
    own = _of_its_own(statement) - scope.receivers
    for node in scope.nodes():
        yield from import_paths(node)
        path = dotted(node)
        root = path.partition(".")[0]
        if root in own:
            yield path
        elif root not in scope.receivers and root not in program.definitions:
            yield scope.resolve(path) or f".{getattr(node, 'attr', '')}"


def _says(path: str) -> str:
    return f"`{path.strip('.')}` does what this exercise asks you to build: write it yourself."
