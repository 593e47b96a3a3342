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

    What is installed where a notebook was written need not be here, and few answers need it.

    Raises:
        ImportError: an import failed; the rest was executed.

    """
    failed: ImportError | None = None
    rest: str | ast.Module = source
    while not isinstance(rest, ast.Module) or rest.body:
        try:
            _run(compiled(rest, filename, "exec"), namespace)  # type: ignore[arg-type]
            break
        except ImportError as error:
            failed = failed or error
            rest = _behind_import(rest, line_in(error, filename), error)
    if failed is not None:
        raise failed


def _behind_import(code: str | ast.Module, line: int, error: ImportError) -> ast.Module:
    """Return what stands behind the import in a line; it is raised if no import stands there."""
    body = (ast.parse(code) if isinstance(code, str) else code).body
    for place, one in enumerate(body, 1):
        if isinstance(one, ast.Import | ast.ImportFrom) and line in range(
            one.lineno, (one.end_lineno or line) + 1
        ):
            return ast.Module(body[place:], [])
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
