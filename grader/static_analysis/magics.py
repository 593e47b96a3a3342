"""IPython's magics in a submission: they cost nothing, and the code that they run is run.

Everything else that a magic does (measure, draw, install, call the shell) is left out. Its code
comes out as plain Python, which is read for shortcuts like all other code.
"""

import ast
import re
from typing import Final

RUN_THEIR_CELL: Final = {"time", "timeit", "capture", "prun"}
RUN_THEIR_LINE: Final = {"time", "timeit", "prun"}
HEAD: Final = re.compile(r"\s*%%(\w+)[^\n]*")
CALL: Final = re.compile(r"get_ipython\(\)\.\w+\(.*")  # as IPython's transformer writes it
OPTIONS: Final = re.compile(r"(?:\s*-(?:[nr]\s*\d+|[a-zA-Z]+)(?=\s|$))*\s*")


def without_cell_magic(source: str) -> str:
    """Return a cell without magics at its head; empty if the magic's text is no code of ours."""
    before = ""
    while head := HEAD.match(source):
        if head[1] not in RUN_THEIR_CELL:
            return "\n"
        before += "#\n" * head[0].count("\n") + "#"  # lines keep their numbers
        source = source[head.end() :]
    return before + source


def with_code_of_line_magics(source: str) -> str:
    """Return code with each call of the shell replaced by the code that its magic runs."""
    return CALL.sub(lambda call: _code_of(call[0]), source)


def _code_of(call: str) -> str:
    try:
        read = ast.parse(call).body
    except SyntaxError:  # not the transformer's: in a comment, a text, or a longer line of its own
        return call
    match read:
        case [
            ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(attr="run_line_magic"),
                    args=[ast.Constant(value=str(name)), ast.Constant(value=str(line))],
                )
            )
        ] if name in RUN_THEIR_LINE:
            return OPTIONS.sub("", line, count=1) or "None"
    return "None"
