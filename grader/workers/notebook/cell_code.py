"""Execute a notebook's cells one after another, as a notebook does."""

import __future__

import ast
import asyncio
import base64
import codeop
import contextlib
import inspect
import marshal
import warnings
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import CodeType
from typing import Any, Final

from grader.workers.notebook.not_installed import stand_in

FUTURE: Final = sum(getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)
Tell = Callable[[Exception, ast.stmt], None]  # what takes a statement that failed


def file_of(number: int) -> str:
    """Return the name of a step's cell in errors, by the step's number."""
    return f"<cell {number}>"


class Compiler:
    """What compiles cells: a `from __future__ import` counts for all cells after it.

    Args:
        ready: file -> its code, for cells that were compiled ahead.

    """

    def __init__(self, ready: Mapping[str, str] | None = None) -> None:
        self._compile = codeop.Compile()
        # A cell is whole: nothing more is to be typed.
        self._compile.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self._ready = ready or {}

    def __call__(self, source: str, file: str) -> tuple[CodeType, ...]:
        """Return the code of each of a cell's statements, or one code for all of them.

        A text may be nested more deeply than a tree that is handed to the compiler may be.
        """
        if file in self._ready:
            codes: tuple[CodeType, ...] = marshal.loads(base64.b64decode(self._ready[file]))
            for code in codes:
                self._compile.flags |= code.co_flags & FUTURE
            return codes
        try:
            return self.each(ast.parse(source, file).body, file)
        except RecursionError:
            return (self._compile(source, file, "exec"),)

    def each(self, statements: Iterable[ast.stmt], file: str) -> tuple[CodeType, ...]:
        """Compile statements, each on its own: one that fails leaves the others as they are."""
        alone = (ast.Module([one], []) for one in statements)
        return tuple(self._compile(one, file, "exec") for one in alone)  # type: ignore[arg-type]


def compiled_ahead(cells: Iterable[Sequence[ast.stmt]]) -> Iterator[str]:
    """Compile cells, read already, once for all processes that run them.

    It is "" for those without statements, and those that must tell why they cannot be compiled.
    """
    compiled = Compiler()
    for number, statements in enumerate(cells):
        ready = b""
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if statements and __debug__:  # else a student's asserts would be gone
                ready = marshal.dumps(compiled.each(statements, file_of(number)))
        yield base64.b64encode(ready).decode()


def execute(
    source: str, filename: str, namespace: dict[str, Any], compiled: Compiler, tell: Tell
) -> None:
    """Execute a cell's statements in order; one that fails is told, and the next ones run.

    It may fail only here, for a library, a file, a screen or a network that the machine lacks. What
    it would have imported gets stand-ins. What ends a cell wherever it runs (`raise`, `exit()`)
    ends it here, too: what stands behind it is not meant.

    Raises:
        BaseException: it is no Exception, it was raised to end the cell, or by `tell`.

    """
    body: list[ast.stmt] = []

    def goes_on(error: Exception, place: int) -> bool:
        body.extend(() if body else ast.parse(source).body)
        if len(body) != len(codes) or _ends_its_cell(body[place]):
            return False
        tell(error, body[place])
        stand_in(body[place], namespace)
        return True

    codes = compiled(source, filename)
    work = _each(codes, namespace, goes_on)
    if any(code.co_flags & inspect.CO_COROUTINE for code in codes):
        _in_a_loop(work)
    else:
        with contextlib.suppress(StopIteration):
            work.send(None)  # it awaits nothing, so it comes to its end at once


async def _each(
    codes: Iterable[CodeType],
    namespace: dict[str, Any],
    goes_on: Callable[[Exception, int], bool],
) -> None:
    for place, code in enumerate(codes):
        try:
            if code.co_flags & inspect.CO_COROUTINE:
                await eval(code, namespace)
            else:
                exec(code, namespace)
        except Exception as error:
            if not goes_on(error, place):
                raise


def go_on_in(shell: Any) -> None:
    """Let a kernel's shell go on after a statement that fails, as `execute` does.

    nbgrader's own engine runs this in a kernel's first cell, so that both give one score.
    """
    run = shell.run_ast_nodes

    async def each(
        nodelist: list[ast.stmt], cell_name: str, interactivity: str, compiler: object, result: Any
    ) -> bool:
        failed = False
        for node in nodelist:
            shows = interactivity if node is nodelist[-1] else "none"
            if await run([node], cell_name, shows, compiler, result):
                failed = True
                if _ends_its_cell(node) or not isinstance(result.error_in_exec, Exception):
                    break
                stand_in(node, shell.user_ns)
        return failed

    shell.run_ast_nodes = each


def _in_a_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run in the notebook's event loop, as Jupyter does; what is stopped does not go on later."""
    if _loop().is_closed():  # by a cell
        _loop.cache_clear()
    asyncio.set_event_loop(_loop())  # later cells can get it
    task = _loop().create_task(work)
    try:
        _loop().run_until_complete(task)
    finally:
        task.cancel()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of all cells: what one of them began, a later one may wait for."""
    return asyncio.new_event_loop()


def _ends_its_cell(statement: ast.stmt) -> bool:
    """Return whether a statement fails on every machine, on purpose: `raise`, `assert False`."""
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant)
    return isinstance(statement, ast.Raise)


def names_bound(statement: ast.stmt) -> frozenset[str]:
    """Return the names that a statement would have bound, wherever in it."""
    return frozenset(
        node.id if isinstance(node, ast.Name) else node.name
        for node in ast.walk(statement)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    )


def line_in(error: BaseException, filename: str) -> int:
    """Return the cell's innermost line on the way to an error; 0 if there is none."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
