"""What a student defines in cells that do not run: demonstrations and tests."""

import ast
import builtins
import re
import symtable
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grader.static_analysis.cells import Statement, as_any_editor, kept, statements
from grader.static_analysis.names import imported

DEFINES: Final = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class _Own:
    """A statement that a student wrote into a cell that does not run, alone on its lines."""

    statement: Statement
    lines: range
    text: str

    @property
    def names(self) -> set[str]:
        return _names_of(self.statement)


def definitions_alone(
    idle: Sequence[str], running: Sequence[str], lessons: str, answers: Collection[str] = ()
) -> list[str]:
    """Return the texts of cells that do not run with what a student defines in them alone.

    That is imports, functions, classes, answers, and what binds a name that would be missing. What
    else students try out there may take long, and binds names such as `x`, which cells that run
    bind for themselves.

    Args:
        idle: the cells' texts as Python.
        running: those of the cells that run.
        lessons: the lesson's own text: what stands in it is left out, too.
        answers: names whose assignments are there in any case.

    """
    cells = [list(_own(source, f"\n{lessons}\n")) for source in idle]
    every = [own for cell in cells for own in cell]
    there = [own for own in every if _defines(own.statement, answers)]
    loose = [own for own in every if not _defines(own.statement, answers)]
    if loose:
        there += _missing(loose, there, running)
    lines = {id(own): own.lines for own in there}
    return [
        _with_lines(source, {n for own in cell for n in lines.get(id(own), ())})
        for source, cell in zip(idle, cells, strict=True)
    ]


def _own(source: str, lessons: str) -> Iterator[_Own]:
    if f"\n{as_any_editor(source)}\n" in lessons:
        return
    lines = _lines(source)
    places = [(one, _lines_of(one.code)) for one in statements(source)]
    shared = Counter(number for _, numbers in places for number in numbers)
    for statement, numbers in places:
        text = "\n".join(lines[n - 1] for n in numbers)
        if all(shared[n] == 1 for n in numbers) and f"\n{as_any_editor(text)}\n" not in lessons:
            yield _Own(statement, numbers, text)


def _missing(
    loose: Iterable[_Own], there: Sequence[_Own], running: Iterable[str]
) -> Iterator[_Own]:
    """Yield the statements that bind what others need and nothing else binds."""
    running = tuple(running)
    ran = [one for source in running for one in statements(source)]
    bound = {name for one in ran for name in _names_of(one)}
    bound |= {name for own in there for name in own.names} | set(dir(builtins))
    needed = {n for text in (*running, *(own.text for own in there)) for n in _names_read(text)}
    waiting = list(loose)
    while True:
        needed -= bound
        found = [own for own in waiting if not needed.isdisjoint(own.names)]
        if not found:
            return
        yield from found
        waiting = [own for own in waiting if needed.isdisjoint(own.names)]
        needed |= {name for own in found for name in _names_read(own.text)}


def _defines(statement: Statement, answers: Collection[str]) -> bool:
    is_assignment = isinstance(statement.code, ast.Assign | ast.AnnAssign)
    answers_here = is_assignment and not statement.bound.isdisjoint(answers)
    return isinstance(statement.code, DEFINES) or answers_here


def _names_of(statement: Statement) -> set[str]:
    return {*statement.bound, *(name for name, _ in imported(statement.imports))}


@kept
def _names_read(source: str) -> frozenset[str]:
    """Return the notebook's names that some code uses, whoever binds them."""
    try:
        waiting = [symtable.symtable(source, "a cell", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found = set[str]()
    while waiting:
        table = waiting.pop()
        at_top = table.get_type() == "module"
        found |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (at_top or symbol.is_global())
        }
        waiting += table.get_children()
    return frozenset(found)


def _with_lines(source: str, numbers: Collection[int]) -> str:
    """Return a text with all other lines empty, so that those keep their numbers."""
    kept_lines = (line if n in numbers else "" for n, line in enumerate(_lines(source), 1))
    return "\n".join(kept_lines).rstrip()


def _lines(source: str) -> list[str]:
    return re.split(r"\r\n?|\n", source)


def _lines_of(statement: ast.stmt) -> range:
    """Return the numbers of a statement's lines, its decorators' among them."""
    decorators = getattr(statement, "decorator_list", [])
    first = min(node.lineno for node in (statement, *decorators))
    return range(first, (statement.end_lineno or first) + 1)
