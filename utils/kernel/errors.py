"""Say in a sentence why a cell stopped, where an error's traceback says it badly.

A lesson that is run from end to end meets exercises that are not written yet, and cells that need
what such a cell did not make. Each gets one quiet box. All other errors are shown as Python shows
them, in the student's code and where it ends.
"""

import itertools
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

from IPython.core.interactiveshell import InteractiveShell

from utils.kernel.cell_names import made_from
from utils.kernel.lesson_cells import LessonCell, called, lesson_cells
from utils.kernel.runs import STUB, Log, Run, is_of_the_notebook, line_in_cell
from utils.kernel.say import say
from utils.kernel.stale import missing
from utils.words import an, elapsed, listed

_OWN: Final = str(Path(__file__).resolve().parents[1])  # the folder of the course's own code
_COURSE: Final = "utils"
_CALLS: Final = ("_wrapped_call_impl", "_call_impl")


class AlreadyTold(KeyboardInterrupt):
    """Stop a cell, and the cells that wait behind it, after a student was told why."""


def explain_errors(log: Log) -> None:
    """Take over what a kernel shows of errors."""

    def show(
        shell: InteractiveShell,
        kind: type[BaseException],
        error: BaseException,
        tb: TracebackType | None,
        tb_offset: int | None = None,
    ) -> None:
        if isinstance(error, AlreadyTold):
            return
        try:
            lines = reasons(log, error)
        except Exception:  # a fault of this module hides no error
            lines = []
        if lines:
            say(*lines)
        else:
            _show_as_usual(shell, kind, error, tb)

    log.shell.set_custom_exc((Exception, KeyboardInterrupt), show)  # type: ignore[no-untyped-call]


def reasons(log: Log, error: BaseException) -> list[str]:
    """Return why a cell stopped, in sentences; nothing if the traceback says it best."""
    if isinstance(error, SyntaxError) or log.now is None:
        return []
    if isinstance(error, KeyboardInterrupt):
        return [_of_interrupt(log.now, error)]
    if isinstance(error, ImportError) and (error.name or "").split(".")[0] == _COURSE:
        return [_of_an_old_copy(error.msg.partition(" (")[0])]  # what follows is a path
    if exercise := _unwritten(log, error):
        log.now.needed = tuple(dict.fromkeys((exercise, *log.unwritten(log.now))))
    elif isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        return _of_a_missing_name(log, log.now, str(error.name))
    elif next(_exercises_in(log, error), None) is None:
        return _of_a_consequence(log, log.now, error)
    return [_needs(log, log.now.needed)] if log.now.needed else []


def _of_an_old_copy(what: str) -> str:
    return (
        f"{what[:1].upper()}{what[1:]}. If this line is the lesson's, your copy is older than the "
        "course: rename the lesson's folder in learn/, start again with `make lab`, and copy your "
        "answers over."
    )


def _of_interrupt(run: Run, error: BaseException) -> str:
    took = elapsed(time.monotonic() - run.started)
    line = line_in_cell(error, run.source)
    code = run.source.splitlines()[line - 1].strip() if line else ""
    where = f", in line {line}: `{code}`" if code else ""
    return f"You stopped this cell after {took}{where}."


def _unwritten(log: Log, error: BaseException) -> str:
    """Return the exercise whose stub was reached, or nothing."""
    if not isinstance(error, NotImplementedError):
        return ""
    if str(error).endswith(STUB):
        return str(error).removesuffix(STUB)
    found = list(_exercises_in(log, error))
    return found[-1] if found and not str(error) else ""


def _exercises_in(log: Log, error: BaseException) -> Iterator[str]:
    """Yield the exercises whose code an error went through, from the cell inwards."""
    for frame, _line in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_qualname.partition(".")[0]
        if is_of_the_notebook(frame) and name in log.exercises():
            yield name


def _needs(log: Log, exercises: tuple[str, ...]) -> str:
    """Return what an experiment needs that is not written yet, and how to go on without it."""
    parts = listed([f"`{name}`" for name in exercises])
    them, rest = ("them", " and so on") if len(exercises) > 1 else ("it", "")
    lendable = (name for name in exercises if log.exercises().get(name))
    lend = "".join(f', or `lend("{name}")`{rest}' for name in itertools.islice(lendable, 1))
    return f"This experiment needs {parts}: write {them} above{lend}."


def _of_a_missing_name(log: Log, run: Run, name: str) -> list[str]:
    if (name in log.deleted or name in log.exercises()) and (said := missing(log, name)):
        return [said]
    stopped = next((r for r in log.latest() if r.error and name in r.names.makes), None)
    if stopped is not None:
        return _of_stopped(log, run, stopped, f"`{name}`")
    making = [cell for cell in lesson_cells() if name in cell.names.makes]
    if making and not any(_ran(log, cell) for cell in making):
        return [f"This cell needs `{name}`, which {making[0]} makes. Run that cell first."]
    return (
        [f"There is no `{name}` yet. Run the cell that makes it."]
        if name in log.exercises()
        else []
    )


def _of_a_consequence(log: Log, run: Run, error: BaseException) -> list[str]:
    """Explain an error by a cell that has not run, or not to its end, before this one."""
    words = f"It stopped with {type(error).__name__}: {error}"
    for stopped in log.latest():
        shared = sorted(_left_undone(run, stopped) & run.names.needs)
        if shared and stopped.needed:
            return _of_stopped(log, run, stopped, f"`{shared[0]}`")
        if shared and isinstance(error, LookupError):
            return [*_of_stopped(log, run, stopped, f"`{shared[0]}`"), words]
    if not isinstance(error, LookupError):
        return []
    here = next((c for c in lesson_cells() if run.is_of_the_cell_of(_as_run(c))), None)
    for cell in here.above if here else ():
        shared = sorted(cell.names.gives & run.names.needs)
        if shared and not _ran(log, cell):
            after = f"This cell needs `{shared[0]}` as {cell} leaves it. Run that cell first."
            return [after, words]
    return []


def _left_undone(run: Run, other: Run) -> set[str]:
    """Return the names that another cell should have given, and may not have, since it stopped."""
    if not other.error or other.is_of_the_cell_of(run):
        return set()
    return {*made_from(other.source, other.line), *other.names.changes}


def _of_stopped(log: Log, run: Run, stopped: Run, name: str) -> list[str]:
    """Explain an error by an earlier cell that stopped, perhaps for want of an exercise."""
    run.needed = tuple(n for n in stopped.needed if log.is_stub(n))
    if run.needed:
        return [_needs(log, run.needed)]
    earlier = f"This cell needs {name} from {called(stopped.source)}"
    if stopped.needed:
        return [f"{earlier}. Run that one again, now that {_written(stopped.needed)} written."]
    where = f" in line {stopped.line}" if stopped.line else ""
    return [f"{earlier}, which stopped with {an(stopped.error)}{where}. Mend that one first."]


def _written(exercises: tuple[str, ...]) -> str:
    return f"{listed([f'`{n}`' for n in exercises])} {'is' if len(exercises) == 1 else 'are'}"


def _ran(log: Log, cell: LessonCell) -> bool:
    return any(run.is_of_the_cell_of(_as_run(cell)) for run in log.runs)


def _as_run(cell: LessonCell) -> Run:
    return Run(cell.source, cell.cell)


def _show_as_usual(
    shell: InteractiveShell,
    kind: type[BaseException],
    error: BaseException,
    tb: TracebackType | None,
) -> None:
    """Show a traceback as IPython does, less the frames that tell a student nothing."""
    before, shell.custom_exceptions = shell.custom_exceptions, ()
    try:
        for each in _with_causes(error):
            each.__traceback__ = shortened(each.__traceback__)
        is_compiled = any(is_of_the_notebook(frame) for frame, _line in traceback.walk_tb(tb))
        shell.showtraceback((kind, error, shortened(tb)), running_compiled_code=is_compiled)
    finally:
        shell.custom_exceptions = before


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and not any(each is other for other in seen):
            seen.append(each)
            waiting += [each.__cause__, each.__context__]
    yield from seen


def shortened(tb: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames that tell a student nothing.

    These are the course's own, those of libraries between two frames of the notebook's code, and
    torch's two for each call of a module.
    """
    links = list(_links(tb))
    theirs = [n for n, each in enumerate(links) if is_of_the_notebook(each.tb_frame)]
    between = range(theirs[0], theirs[-1]) if theirs else range(0)
    kept: TracebackType | None = None
    for n, each in reversed(list(enumerate(links))):
        code = each.tb_frame.f_code
        is_on_the_way = n in between and n not in theirs
        if not (is_on_the_way or code.co_filename.startswith(_OWN) or code.co_name in _CALLS):
            kept = TracebackType(kept, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return kept


def _links(tb: TracebackType | None) -> Iterator[TracebackType]:
    while tb is not None:
        yield tb
        tb = tb.tb_next
