"""IPython's magics in a submission: they cost nothing, and the code that they run is run.

Everything else that a magic does (measure, draw, install, call the shell) is left out. Its code
comes out as plain Python, which is read for shortcuts like all other code. A name for what a magic
gives stands for what `get_ipython` returns while grading: something that does nothing.
"""

import ast
import re
from typing import Final, NamedTuple

RUN_THEIR_CELL: Final = {"time", "timeit", "capture", "prun"}
RUN_THEIR_LINE: Final = {"time", "timeit", "prun"}
TAKE: Final = {  # what a magic does with its cell in place of running it in the notebook
    "writes it into a file and does not run it": {"writefile", "file"},
    "hands it to a shell": {"bash", "sh", "system", "sx", "!", "cmd", "powershell"},
    "runs it in another process, of which nothing comes back": {
        "script", "python", "python2", "python3", "pypy", "perl", "ruby",
    },
    "shows it on the page": {"html", "HTML", "svg", "SVG", "javascript", "js", "latex", "markdown"},
}  # fmt: skip
TAKES: Final = "takes its text and does not run it in the notebook"
GIVE_THEIR_LINE: Final = {"time"}  # its line's value is their value
HEAD: Final = re.compile(r"\s*%%(\w+)[^\n]*")
CAPTURED: Final = re.compile(r"\s*%%capture\s+([^\W\d]\w*)")
# A call as IPython's transformer writes it, behind a sign if its value is given a name.
CALL: Final = re.compile(r"(=\s*)?(get_ipython\(\)\.\w+\(.*)")
OPTIONS: Final = re.compile(r"(?:\s*-(?:[nr]\s*\d+|[a-zA-Z]+)(?=\s|$))*\s*")


def without_cell_magic(source: str) -> str:
    """Return a cell without magics at its head; empty if the magic's text is no code of ours."""
    before = ""
    while head := HEAD.match(source):
        if head[1] not in RUN_THEIR_CELL:
            return "\n"
        before += "#\n" * head[0].count("\n") + _in_place_of(head[0])  # lines keep their numbers
        source = source[head.end() :]
    return before + source


def _in_place_of(head: str) -> str:
    captured = CAPTURED.match(head)
    return f"{captured[1]} = get_ipython()" if captured else "#"


def with_code_of_line_magics(source: str) -> str:
    """Return code with each call of the shell replaced by the code that its magic runs."""
    return CALL.sub(lambda call: (call[1] or "") + _code_of(call[2], bool(call[1])), source)


def _code_of(call: str, has_a_name: bool) -> str:
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
        ] if name in (GIVE_THEIR_LINE if has_a_name else RUN_THEIR_LINE):
            return OPTIONS.sub("", line, count=1) or "None"
    return "get_ipython()" if has_a_name else "None"


class Taken(NamedTuple):
    """A cell that a magic at its head takes away.

    Attributes:
        why: what the magic does with it.
        code: the text that does not run.

    """

    why: str
    code: str


def taken_by(source: str) -> Taken | None:
    """Return what a magic at a cell's head does with it in place of running it, if one does."""
    while head := HEAD.match(source):
        source = source[head.end() :]
        if head[1] not in RUN_THEIR_CELL:
            does = next((does for does, names in TAKE.items() if head[1] in names), TAKES)
            return Taken(f"begins with %%{head[1]}, which {does}", source)
    return None
