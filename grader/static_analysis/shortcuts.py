"""Find forbidden shortcuts in a submission by reading its syntax trees; nothing is run.

Only code that an answer can reach is read: the definitions of its name, of the names they use, and
so on, plus statements that change imported objects. Comparing an answer with torch's own in a
scratch cell refuses nothing.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence

from grader.static_analysis.cells import statements
from grader.static_analysis.forbidden import Reach
from grader.static_analysis.program import Program, read_program, readings
from grader.static_analysis.uses import Use, takes_stand_ins, uses
from utils.checks.registry import probes


def refusals(
    sources: Sequence[str],
    forbidden: Mapping[str, Sequence[str]],
    carried: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Say which exercises are refused, and why.

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
    """Return the blocks that a lesson carries from earlier ones."""
    codes = [statement.code for source in sources for statement in statements(source)]
    return frozenset(filter(None, map(_carried, codes)))


def _carried(code: ast.stmt) -> str:
    """Return the block in ``X = carry("lesson", "block")``; "" for any other statement."""
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
    """Skip statements where the course's own carry carries one of the lesson's blocks.

    Every other use of `utils.notebook.carry` is an offence.
    """
    if (
        program.aliases.get("carry") != ["utils.notebook.carry.carry"]
        or "carry" in program.definitions
    ):
        return
    for name, codes in program.definitions.items():
        program.definitions[name] = [
            ast.Pass() if _carried(code) in carried else code for code in codes
        ]


def _refusal(program: Program, exercise: str, forbidden: Sequence[str]) -> str:
    """Return the first offence in all that the exercise's name can reach, as a sentence."""
    reached = list(_reachable(program, exercise))
    reaches = (Reach(aliases, program.stars, forbidden) for aliases in readings(program))
    return next((found for reach in reaches if (found := _offence(program, reach, reached))), "")


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
    """Yield every name that an exercise's code uses, directly or not, with the code behind it.

    Names that a stand-in replaces while the exercise is observed are left out. Each statement is
    read once.
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
    """Return what defines a name, plus what handles it unless it is a function only called."""
    codes = program.definitions.get(use.name, [])
    functions = [code for code in codes if isinstance(code, ast.FunctionDef)]
    if functions and len(functions) == len(codes) and not use.held:
        return codes
    return [*codes, *program.handled.get(use.name, [])]
