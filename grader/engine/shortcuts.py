"""Find forbidden shortcuts in a submission by reading its syntax trees; nothing is run.

Only code that an answer can reach is read: the definitions of its name, of the names they use, and
so on, plus statements that change other objects. A student may well compare an answer with torch's
own in a scratch cell; that refuses nothing.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from grader.engine.cells import Statement, statements
from grader.engine.reaching import Reach, imported, intrusion
from grader.engine.uses import Use, takes_stand_ins, uses
from utils.checks.registry import probes

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


def refusals(
    sources: Sequence[str],
    forbidden: Mapping[str, Sequence[str]],
    carried: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Why exercises are refused, if they are.

    Args:
        sources: the notebook's code cells, in order.
        forbidden: exercise -> dotted names that it rules out.
        carried: blocks of earlier lessons that the lesson itself carries.

    Returns:
        exercise -> one sentence for the student.
    """
    program = read_program(sources)
    _accept_carried(program, carried)
    found = {name: _refusal(program, name, names) for name, names in forbidden.items()}
    return {name: why for name, why in found.items() if why}


def carried_in(sources: Sequence[str]) -> frozenset[str]:
    """Blocks that a lesson carries from earlier ones."""
    codes = [statement.code for source in sources for statement in statements(source)]
    return frozenset(filter(None, map(_carried, codes)))


def _carried(code: ast.stmt) -> str:
    """The block in ``X = carry("lesson", "block")``; nothing for any other statement."""
    match code:
        case ast.Assign(
            targets=[ast.Name()],
            value=ast.Call(
                func=ast.Name(id="carry"),
                args=[ast.Constant(), ast.Constant(value=str(block))],
                keywords=[],
            ),
        ):
            return block
    return ""


def _accept_carried(program: Program, carried: frozenset[str]) -> None:
    """Read no further where a block that the lesson carries is carried by the course's own carry.

    Every other use of `utils.carry` is an offence.
    """
    if program.aliases.get("carry") != ["utils.carry.carry"] or "carry" in program.definitions:
        return
    for name, codes in program.definitions.items():
        program.definitions[name] = [
            ast.Pass() if _carried(code) in carried else code for code in codes
        ]


def tampering(sources: Sequence[str]) -> str:
    """Whether code reaches into the running program itself; a sentence for the student.

    Such code could replace what is observed by what torch computes. No exercise needs it.
    """
    program = read_program(sources)
    codes = [statement.code for source in sources for statement in statements(source)]
    many = (f"import as {n}" for n, paths in program.aliases.items() if len(paths) > MOST_PATHS)
    found = (intrusion(code, aliases) for aliases in _readings(program) for code in codes)
    what = next(filter(None, (*many, *found)), "")
    return what and (
        f"`{what}` reaches into the running program, which no exercise needs. Answers that have to "
        "do without torch's own functions were not run: take it out and submit again."
    )


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


def _readings(program: Program) -> list[dict[str, str]]:
    """What names may stand for: together these give every name each of its paths."""
    most = max(map(len, program.aliases.values()), default=1)
    return [
        {name: paths[min(n, len(paths) - 1)] for name, paths in program.aliases.items()}
        for n in range(min(most, MOST_PATHS))
    ]


def _refusal(program: Program, exercise: str, forbidden: Sequence[str]) -> str:
    """Walk everything that the exercise's name can reach; the first offence, as a sentence."""
    reached = list(_reachable(program, exercise))
    readings = (
        Reach(aliases, program.stars, forbidden, exercise) for aliases in _readings(program)
    )
    return next((found for reach in readings if (found := _offence(program, reach, reached))), "")


def _offence(program: Program, reach: Reach, reached: Sequence[tuple[str, list[ast.stmt]]]) -> str:
    suspects = {id(code): code for code in program.effects}
    for name, codes in reached:
        defined = name in program.definitions
        if offence := reach.import_offence(name, defined=defined):
            return offence
        unseen = program.dynamic if not defined and name not in program.aliases else []
        suspects |= {id(code): code for code in [*codes, *unseen]}
    return next((found for code in suspects.values() if (found := reach.offence(code))), "")


def _reachable(program: Program, exercise: str) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Every name that an exercise's code uses, directly or not, with what makes it what it is.

    Not what a stand-in replaces while the exercise is observed. Each statement is read once.
    """
    early = not takes_stand_ins(program.definitions.get(exercise, []))
    waiting = [Use(exercise, held=False, early=early)]
    seen: set[Use] = set()
    read: set[tuple[int, bool]] = set()
    while waiting:
        use = waiting.pop()
        replaced = not use.early and use.name in probes()[exercise].stand_ins
        if use in seen or replaced or _is_builtin(program, use.name):
            continue
        seen.add(use)
        codes = _codes(program, use)
        yield use.name, codes
        for code in codes:
            if (id(code), use.early) not in read:
                read.add((id(code), use.early))
                waiting += sorted(uses(code, early=use.early))


def _is_builtin(program: Program, name: str) -> bool:
    own = name in program.definitions or name in program.aliases
    return not own and hasattr(builtins, name)


def _codes(program: Program, use: Use) -> list[ast.stmt]:
    """What defines a name, and what handles it; that is nothing to a function merely called."""
    codes = program.definitions.get(use.name, [])
    functions = [code for code in codes if isinstance(code, ast.FunctionDef)]
    if functions and len(functions) == len(codes) and not use.held:
        return codes
    return [*codes, *program.handled.get(use.name, [])]
