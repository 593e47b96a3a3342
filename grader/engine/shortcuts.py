"""Find forbidden shortcuts in a submission by reading its syntax trees; nothing is run.

Only code that an answer can reach is read: the definitions of its name, of the names they use, and
so on, plus statements that change other objects. A student may well compare an answer with torch's
own in a scratch cell; that refuses nothing.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from IPython.core.inputtransformer2 import TransformerManager

from grader.engine.reaching import Reach, dotted, intrusion

Definitions = dict[str, list[ast.stmt]]
DYNAMIC = {"exec", "eval", "globals", "locals", "vars", "__import__", "get_ipython"}


@dataclass
class Program:
    """The top-level statements of a notebook.

    Attributes:
        definitions: name -> the statements that bind it.
        effects: statements that change what was imported (``torch.x = ...``, ``setattr(F, ...)``).
        dynamic: statements that may bind names unseen (``exec(...)``, ``globals()[...] = ...``).
        aliases: name -> dotted path that an import gives it ("F" -> "torch.nn.functional").
        stars: modules imported with ``*``.
    """

    definitions: Definitions = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)
    dynamic: list[ast.stmt] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)


def refusals(sources: Sequence[str], forbidden: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Why exercises are refused, if they are.

    Args:
        sources: the notebook's code cells, in order.
        forbidden: exercise -> dotted names that it rules out.

    Returns:
        exercise -> one sentence for the student.
    """
    program = read_program(sources)
    found = {name: _refusal(program, name, names) for name, names in forbidden.items()}
    return {name: why for name, why in found.items() if why}


def tampering(sources: Sequence[str]) -> str:
    """Whether code reaches into the running program itself; a sentence for the student.

    Such code could replace what is observed by what torch computes. No exercise needs it.
    """
    aliases = read_program(sources).aliases
    for source in sources:
        for statement in _statements(source):
            if what := intrusion(statement, aliases):
                return (
                    f"`{what}` reaches into the running program, which no exercise needs. Answers "
                    "that have to do without torch's own functions were not run: take it out and "
                    "submit again."
                )
    return ""


def read_program(sources: Sequence[str]) -> Program:
    """Collect definitions, imports and effects of all cells that parse."""
    program = Program()
    for source in sources:
        for statement in _statements(source):
            _take(program, statement)
    return program


def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(TransformerManager().transform_cell(source)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # a cell that does not parse does not run either


def _take(program: Program, statement: ast.stmt) -> None:
    for node in _outside_functions(statement):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _take_import(program, node)
    changed = set(_changed_roots(statement))
    for name in {*_bound_names(statement), *changed} - program.aliases.keys():
        program.definitions.setdefault(name, []).append(statement)
    if changed & program.aliases.keys():
        program.effects.append(statement)
    if any(_calls(node, DYNAMIC) for node in _outside_functions(statement)):
        program.dynamic.append(statement)


def _take_import(program: Program, node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            program.aliases[name] = alias.name if alias.asname else name
        return
    for alias in node.names:
        if alias.name == "*":
            program.stars.append(node.module or "")
        else:
            program.aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"


def _outside_functions(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement's nodes, functions' and classes' insides left out."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    for node in _outside_functions(statement):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
    for node in ast.walk(statement):
        if isinstance(node, ast.Global):
            yield from node.names


def _changed_roots(statement: ast.stmt) -> Iterator[str]:
    """Names whose objects a statement changes: x in ``x.a = 1``, ``x[0] = 1``, ``setattr(x)``."""
    for node in _outside_functions(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            yield _root(node)
        elif _calls(node, {"setattr", "delattr"}) and isinstance(node, ast.Call) and node.args:
            yield _root(node.args[0])


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _calls(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in names


def _refusal(program: Program, exercise: str, forbidden: Sequence[str]) -> str:
    """Walk everything that the exercise's name can reach; the first offence, as a sentence."""
    reach = Reach(program.aliases, program.stars, forbidden, exercise)
    suspects = list(program.effects)
    for name, statements in _reachable(program, exercise):
        if offence := reach.import_offence(name, defined=bool(statements)):
            return offence
        unseen = not statements and name not in program.aliases
        suspects += [*statements, *(program.dynamic if unseen else [])]
    return next((found for code in suspects if (found := reach.offence(code))), "")


def _reachable(program: Program, exercise: str) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Every name that an exercise's code uses, directly or not, with what defines it."""
    seen: set[str] = set()
    waiting = [exercise]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            statements = program.definitions.get(name, [])
            yield name, statements
            for statement in statements:
                waiting += sorted(_free_names(statement))


def _free_names(statement: ast.stmt) -> set[str]:
    """Names that a statement uses and does not bind itself, builtins left out."""
    nodes = list(ast.walk(statement))
    used = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {n.arg for n in nodes if isinstance(n, ast.arg)}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        bound |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        bound -= {name for n in nodes if isinstance(n, ast.Global) for name in n.names}
    return {name for name in used - bound if not hasattr(builtins, name)}
