"""Execute a notebook's cells one after another, as a notebook does."""

import ast
import asyncio
import codeop
import inspect
from types import CodeType
from typing import Any


def compiler() -> codeop.Compile:
    """Make what compiles cells: a `from __future__ import` counts for all cells after it."""
    compiled = codeop.Compile()
    compiled.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # a cell is whole: nothing more is to be typed
    return compiled


def execute(
    source: str, filename: str, namespace: dict[str, Any], compiled: codeop.Compile
) -> None:
    """Execute a cell; one of its imports that fails is told, and the rest goes on without it.

    What is installed where a notebook was written need not be here, and few answers need it. What
    only calls it (`sns.set_theme()`) is left out, too.

    Raises:
        ImportError: an import failed; the rest was executed.

    """
    failed: ImportError | None = None
    absent: set[str] = set()
    rest: str | ast.Module = source
    while not isinstance(rest, ast.Module) or rest.body:
        try:
            _run(compiled(rest, filename, "exec"), namespace)  # type: ignore[arg-type]
            break
        except ImportError as error:
            failed = failed or error
            missed = _statement(rest, line_in(error, filename), ast.Import | ast.ImportFrom, error)
            absent |= {name.asname or name.name.partition(".")[0] for name in missed[0].names}
            rest = missed[1]
        except NameError as error:
            if error.name not in absent:
                raise
            rest = _statement(rest, line_in(error, filename), ast.Expr, error)[1]
    if failed is not None:
        raise failed


def _statement(
    code: str | ast.Module, line: int, kind: Any, error: Exception
) -> tuple[Any, ast.Module]:
    """Return a line's statement of a kind, and what stands behind it.

    The error is raised if no such statement stands there.
    """
    body = (ast.parse(code) if isinstance(code, str) else code).body
    for place, one in enumerate(body, 1):
        if isinstance(one, kind) and line in range(one.lineno, (one.end_lineno or line) + 1):
            return one, ast.Module(body[place:], [])
    raise error


def _run(code: CodeType, namespace: dict[str, Any]) -> None:
    """Execute a cell's code, in an event loop if it awaits something, as Jupyter does."""
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, namespace))
    else:
        exec(code, namespace)


def line_in(error: BaseException, filename: str) -> int:
    """Return the cell's innermost line on the way to an error; 0 if there is none."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
