"""What this kernel knows of each exercise: tries that failed, parts that are lent or not right yet.

Nothing of it is kept. A notebook's next cells say by it what they show: somebody else's part, or
one whose check failed.
"""

import ast
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult

from utils.kernel.runs import Log, source_of_run
from utils.kernel.say import say
from utils.words import listed

OFFERED_AFTER: Final = 3  # tries that failed
OFFER: Final = (
    'Stuck? `lend("{0}")` in a cell of its own gives you the course\'s part for the rest of this '
    "lesson. It earns no points, and yours can be fixed at any time."
)
_failed: Counter[str] = Counter()
_not_right: set[str] = set()
_built_on: dict[str, tuple[str, ...]] = {}  # exercise -> earlier ones that it may use
_lent: dict[str, Any] = {}


def mark_lent(name: str, part: Any) -> None:
    """Note that the notebook's name stands for the course's part."""
    _lent[name] = part
    _not_right.discard(name)


def is_lent(name: str, answer: Any) -> bool:
    """Return whether an answer is the part that was lent."""
    return name in _lent and _lent[name] is answer


def note_try(
    name: str, *, right: bool, tried: bool, lendable: bool, built_on: Iterable[str] = ()
) -> str:
    """Note how a check went, and return a sentence to show below it, or nothing.

    Args:
        name: the exercise's id.
        right: whether the exercise's idea is right; nothing is built on what is asked beside it.
        tried: whether it was written at all.
        lendable: whether the lesson builds on the answer, so that it can be lent.
        built_on: earlier exercises that the answer may use.

    """
    _built_on[name] = tuple(built_on)
    if right or not tried or not lendable:  # an unwritten part stops a cell, and is named there
        _failed.pop(name, None)
        _not_right.discard(name)
        return ""
    _failed[name] += 1
    _not_right.add(name)
    return OFFER.format(name) if _failed[name] >= OFFERED_AFTER else ""


def warn_before_cells(log: Log) -> None:
    """Say before each of the notebook's cells what it shows that is not right yet."""

    def warn(about: ExecutionInfo) -> None:
        said = warning(str(about.raw_cell))
        if said and not (log.now and log.unwritten(log.now)):  # else it stops, and says why
            say(said)

    def note(ran: ExecutionResult) -> None:
        if not ran.success:
            note_stopped(source_of_run(ran))

    log.shell.events.register("pre_run_cell", warn)
    log.shell.events.register("post_run_cell", note)


def warning(cell: str) -> str:
    """Return which parts of a cell's experiment are not right yet, in a sentence, or nothing.

    Args:
        cell: the source that is about to run; a cell that defines a part, or checks it, needs no
            warning about it.

    """
    shown = _wrong_parts(cell)
    if not shown:
        return ""
    parts = listed(shown)
    verb = "is" if len(shown) == 1 else "are"
    return f"Your {parts} {verb} not right yet: what this cell shows may differ."


def note_stopped(cell: str) -> None:
    """Note that a cell stopped with an error: what it should have made is missing later on.

    Args:
        cell: its source. If a part that it uses is not right yet, cells that need what it makes
            will name that part, above an error that says little.

    """
    if wrong := _wrong_parts(cell):
        _built_on.update(dict.fromkeys(_made(_nodes(cell)), tuple(wrong)))


def _wrong_parts(cell: str) -> list[str]:
    used = _uses(cell)
    used |= {part for name in used for part in _built_on.get(name, ())}
    return sorted(_not_right & used)


def _nodes(cell: str) -> list[ast.AST]:
    try:
        return list(ast.walk(ast.parse(cell)))
    except SyntaxError:
        return []


def _uses(cell: str) -> set[str]:
    """Return the names that a cell reads and neither defines nor checks."""
    nodes = _nodes(cell)
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    checked = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return read - checked - set(_made(nodes))


def _made(nodes: Iterable[ast.AST]) -> Iterable[str]:
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
