"""Keep a log of the cells that this kernel ran: what each made, and where it stopped.

`watch()` begins it when a lesson's first cell imports `check`. While grading nothing is kept.
"""

import difflib
import os
import re
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import FrameType
from typing import Any, Final

from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell

from utils.kernel.cell_names import CellNames, functions_in, made_before, means_to_make, names_of

# Set during grading (the second one by nbgrader itself): nobody is there to be told anything.
GRADING: Final = ("COURSE_GRADING", "NBGRADER_EXECUTION")
STUB: Final = " is not written yet"  # what a stub says after its exercise's id
NEAR: Final = 0.7  # share of letters that a renamed function has in common with the one before


@dataclass
class Run:
    """One run of a cell.

    Attributes:
        source: the cell's source as it was run.
        cell: the cell's id, if the front end says it.
        error: the type of the error that stopped it; "" if none did.
        line: the cell's line, from 1, in which it stopped, if it is known.
        needed: what is missing, if that stopped it: exercises that are not written yet.
        started: when it began, on the monotonic clock.
        known: the notebook's functions by then, by name.

    """

    source: str
    cell: str | None = None
    error: str = ""
    line: int | None = None
    needed: tuple[str, ...] = ()
    started: float = field(default_factory=time.monotonic)
    known: dict[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def names(self) -> CellNames:
        """Return the names that it makes, needs and changes."""
        return names_of(self.source, self.known)

    def is_of_the_cell_of(self, other: "Run") -> bool:
        """Return whether both are runs of one cell, as far as that can be told."""
        if self.cell is not None and other.cell is not None:
            return self.cell == other.cell
        return self.source == other.source


class Log:
    """The cells that a kernel ran.

    Args:
        shell: the kernel's shell.

    Attributes:
        exercises: returns the ids of all exercises, and whether each can be lent.

    """

    exercises: Callable[[], Mapping[str, bool]] = dict

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.runs: list[Run] = []
        self.now: Run | None = None
        self.maker: dict[str, Run] = {}  # name -> the run that gave it its value
        self.deleted: dict[str, Run] = {}  # name -> the run that deleted it
        self._functions: dict[str, Any] = {}
        self._before: dict[str, int] | None = None

    def begin(self, info: ExecutionInfo) -> None:
        """Note that a cell begins to run."""
        self.now = Run(str(info.raw_cell), info.cell_id, known=self._functions)
        self._before = {name: id(value) for name, value in self.shell.user_ns.items()}

    def end(self, result: ExecutionResult) -> None:
        """Note how a cell's run ended, and which names it made.

        A cell that stopped only because an exercise is not written yet has been told so, and it
        counts as run: whoever runs the whole notebook is not stopped by it.
        """
        run = self.now or Run(source_of_run(result))
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            run.error, run.line = type(error).__name__, line_in_cell(error, run.source)
        if run.needed:
            result.error_in_exec = None
        self.runs.append(run)
        self._note_names(run)
        if new := functions_in(run.source):
            self._functions = self._functions | new
        self.now, self._before = None, None

    def _note_names(self, run: Run) -> None:
        names = self.shell.user_ns
        made = set(made_before(run.source, run.line)) if run.line or not run.error else set()
        if self._before is not None:
            made |= {n for n, value in names.items() if self._before.get(n) != id(value)}
            self.deleted |= dict.fromkeys(self._before.keys() - names.keys(), run)
        self.maker |= dict.fromkeys(made & names.keys(), run)
        self.deleted = {name: by for name, by in self.deleted.items() if name not in names}

    def maker_of(self, name: str) -> Run | None:
        """Return the run that gave a name its value; it may be the one that is going on."""
        names, before = self.shell.user_ns, self._before
        if before is not None and name in names and before.get(name) != id(names[name]):
            return self.now
        return self.maker.get(name)

    def helpers(self, name: str) -> list[str]:
        """Return the notebook's functions and classes that an answer's cell uses."""
        maker, names = self.maker_of(name), self.shell.user_ns
        used = sorted(maker.names.needs - self.exercises().keys()) if maker is not None else []
        return [n for n in used if getattr(names.get(n), "__module__", "") == "__main__"]

    def unwritten(self, run: Run) -> list[str]:
        """Return the exercises that a cell needs of which the notebook has the stub."""
        return [name for name in sorted(run.names.needs) if self.is_stub(name)]

    def is_stub(self, name: str) -> bool:
        """Return whether a name stands for an exercise's stub."""
        maker = self.maker.get(name)
        return maker is not None and f'"{name}{STUB}"' in maker.source

    def latest(self) -> Iterator[Run]:
        """Yield the last run of each cell, the newest first."""
        seen: list[Run] = []
        for run in reversed(self.runs):
            if not any(map(run.is_of_the_cell_of, seen)):
                seen.append(run)
                yield run

    def last_try(self, name: str) -> Run | None:
        """Return the last run that should have made a name, if it did not; None if it did.

        It is a later run of the cell that made the name before, or of the exercise's own cell, or
        one of a cell that stopped before it made the name.
        """
        maker = self.maker_of(name)
        if maker is not None and maker is self.now:
            return None
        for run in reversed(self.runs):
            if run is maker:
                return None
            again = (maker is not None and maker.cell == run.cell) or run.cell == name
            makes = means_to_make(run.source, name)
            if (makes and run.error) or (again and run.cell is not None and not makes):
                return run
            if run.cell is None and maker is not None and not makes and _is_edition(run, maker):
                return run
        return None


def _is_edition(run: Run, of: Run) -> bool:
    """Return whether a cell is another one but for the name of what it defines.

    It tells a renamed function where the front end does not say which cell was run.
    """
    old, new = functions_in(of.source), functions_in(run.source)
    if len(old) != 1 or len(new) != 1:
        return False
    (was,), (now,) = old, new
    is_copy = was in now or now in was  # such as `attend_2`: the first one stands beside it
    return not is_copy and _alike(was, now) >= NEAR and _alike(of.source, run.source) >= NEAR


def _alike(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def line_in_cell(error: BaseException, cell: str) -> int | None:
    """Return the line of the running cell in which an error came up, None if it is not known.

    Args:
        error: what stopped it.
        cell: its source. IPython counts from its first line with code, or below a `%%magic`.

    """
    first = re.match(r"(?:[ \t]*\n)*(?:%%.*\n)?", cell)
    above = first[0].count("\n") if first else 0
    frames = list(traceback.walk_tb(error.__traceback__))
    if isinstance(error, SyntaxError) and not (frames and is_of_the_notebook(frames[-1][0])):
        return None if error.lineno is None else error.lineno + above  # it did not begin
    inside = (f for f in frames if f[0].f_code.co_name == "<module>" and is_of_the_notebook(f[0]))
    lines = [line + above for _frame, line in inside]
    return lines[-1] if lines else None


def source_of_run(result: ExecutionResult) -> str:
    """Return the source of the cell that was run."""
    return "" if result.info is None else str(result.info.raw_cell)


def is_of_the_notebook(frame: FrameType) -> bool:
    """Return whether a frame runs code of the notebook's cells."""
    return frame.f_globals.get("__name__") == "__main__"


def is_grading() -> bool:
    """Return whether a notebook is graded."""
    return any(os.environ.get(variable) for variable in GRADING)


_logs: list[Log] = []


def watch(*listeners: Callable[[Log], None]) -> Log | None:
    """Begin the log in a notebook's kernel; later calls return the same one.

    Args:
        listeners: called once with the log when it begins.

    """
    if not InteractiveShell.initialized() or is_grading():
        return None
    shell = InteractiveShell.instance()
    found = next((log for log in _logs if log.shell is shell), None)
    if found is None:
        found = Log(shell)
        _logs.append(found)
        shell.events.register("pre_run_cell", found.begin)
        shell.events.register("post_run_cell", found.end)
        for listener in listeners:
            listener(found)
    return found
