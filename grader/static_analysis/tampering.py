"""Find code that reaches into the running program by reading it; nothing is run."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Final

from grader.static_analysis.cells import statements
from grader.static_analysis.names import IMPORTS, Scope, dotted, import_paths, is_allowed, leading
from grader.static_analysis.program import MOST_PATHS, read_program, readings

# What reaches into the running program itself. No exercise of the course needs it.
INTRUSIVE: Final = {
    "__code__", "__globals__", "__closure__", "__subclasses__", "__builtins__", "cell_contents",
    "f_globals", "f_locals", "f_back", "tb_frame", "gi_frame", "get_objects", "get_referrers",
    "get_referents", "_getframe", "_current_frames", "currentframe", "settrace", "setprofile",
    "settrace_all_threads", "setprofile_all_threads", "addaudithook", "__import__", "__loader__",
    "__spec__",
}  # fmt: skip
INTRUSIVE_ROOTS: Final = {
    "ctypes", "marshal", "grader", "utils.checks", "importlib", "pydoc", "pkgutil", "runpy",
    "imp.load_module", "imp.load_source", "zipimport", "unittest.mock", "sys.modules",
    "sys.monitoring", "sys.__dict__", "sys.__getattribute__", "sys.*", "utils.*", "exec",
    "builtins.exec", "pickle.load", "pickle.loads", "pickle.Unpickler",
    # In these, torch's functions run unseen by what refuses them while an answer is observed.
    "torch._C", "torch.overrides", "torch.jit", "torch._dynamo", "torch.export", "torch.fx",
    "torch.utils._python_dispatch", "compile", "builtins.compile",
}  # fmt: skip
# Kept or passed on, these give all of the above under any name.
KEYS: Final = {"sys", "builtins", "gc", "inspect", "threading", "utils", "utils.checks"}
NAMESPACES: Final = {"globals", "locals", "vars"}
WRITERS: Final = {"update", "setdefault", "__setitem__", "__ior__"}
INSIDE: Final = re.compile(r"(grader\.|utils\.checks|utils\.reference)[\w.]*")


def intrusion(code: ast.AST, aliases: Mapping[str, str]) -> str:
    """Return what in a piece of code reaches into the running program, if anything."""
    scope = Scope(code, aliases)
    return next((found for node in scope.nodes() if (found := _intruding(node, scope))), "")


def _intruding(node: ast.AST, scope: Scope) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) and _tells(node.value) else ""
    if isinstance(node, IMPORTS):
        return next(filter(_is_intrusive, import_paths(node)), "")
    if _binds_unseen(node):
        return "globals()"
    path = _path_of(node)
    kept = isinstance(getattr(node, "ctx", None), ast.Load) and scope.resolve(path) in KEYS
    return path if kept or _is_intrusive(scope.resolve(path)) else ""


def _binds_unseen(node: ast.AST) -> bool:
    """Return whether a node binds a name unseen: ``globals()["a"] = x``, ``vars().update(a=x)``."""
    if not isinstance(node, (ast.Attribute, ast.Subscript)) or not isinstance(node.value, ast.Call):
        return False
    writes = not isinstance(node.ctx, ast.Load) or getattr(node, "attr", "") in WRITERS
    return writes and not node.value.args and dotted(node.value.func) in NAMESPACES


def _tells(text: str) -> bool:
    """Return whether a text names what only code that reaches into the program would name."""
    inside = INSIDE.fullmatch(text) and not is_allowed(text)
    return bool(inside) or text in INTRUSIVE or "sys.modules" in text or "__import__" in text


def _path_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return dotted(node) or f".{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is_intrusive(path: str) -> bool:
    parts = path.split(".")
    inside = not INTRUSIVE.isdisjoint(parts) or "sys" in parts[1:]
    return inside or (bool(leading(path) & INTRUSIVE_ROOTS) and not is_allowed(path))


def tampering(sources: Sequence[str]) -> str:
    """Return a sentence for the student if code reaches into the running program, else "".

    Such code could replace what is observed with what torch computes. No exercise needs it.
    """
    program = read_program(sources)
    codes = [statement.code for source in sources for statement in statements(source)]
    many = (f"import as {n}" for n, paths in program.aliases.items() if len(paths) > MOST_PATHS)
    found = (intrusion(code, aliases) for aliases in readings(program) for code in codes)
    what = next(filter(None, (*many, *found)), "")
    return what and (
        f"`{what}` reaches into the running program, which no exercise needs. Answers that have to "
        "do without torch's own functions were not run: take it out and submit again."
    )
