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
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any, Final

FUTURE: Final = sum(getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)


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

    def __call__(self, source: str | ast.Module, file: str) -> CodeType:
        """Return a cell's code, or that of what is left of it."""
        if not isinstance(source, str) or file not in self._ready:
            return self._compile(source, file, "exec")  # type: ignore[arg-type]
        code: CodeType = marshal.loads(base64.b64decode(self._ready[file]))
        self._compile.flags |= code.co_flags & FUTURE
        return code


def compiled_ahead(cells: Iterable[str]) -> Iterator[str]:
    """Compile cells once for all processes that run them; "" for those that must tell why not."""
    compiled = Compiler()
    for number, source in enumerate(cells):
        ready = b""
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if source and __debug__:  # else a student's asserts would be gone
                ready = marshal.dumps(compiled(source, file_of(number)))
        yield base64.b64encode(ready).decode()


def execute(source: str, filename: str, namespace: dict[str, Any], compiled: Compiler) -> None:
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
            _run(compiled(rest, filename), namespace)
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
