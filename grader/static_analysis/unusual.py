"""Find what a notebook touches that no lesson asks for: a reason to look at it, and no more."""

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from grader.static_analysis.cells import kept, statements
from grader.static_analysis.guarded import guarded
from grader.static_analysis.names import IMPORTS, dotted, import_paths

MOST: Final = 5  # that are told of one notebook
USUAL: Final = {
    "IPython", "__future__", "abc", "bisect", "collections", "contextlib", "copy", "dataclasses",
    "enum", "functools", "itertools", "json", "math", "matplotlib", "numbers", "numpy", "operator",
    "pathlib", "pprint", "random", "re", "statistics", "string", "textwrap", "time", "torch",
    "typing", "utils", "warnings",
}  # fmt: skip
INSIDE: Final = ("utils.reference", "utils.checks.", "utils.lab")  # of the course, not for lessons
OURS: Final = {"utils.checks.check"}
CALLS: Final = {"__import__", "compile", "eval", "exec", "globals", "locals"}
OWN: Final = {"self", "cls"}
USUAL_NAMES: Final = {
    "__class__", "__contains__", "__doc__", "__getitem__", "__init__", "__len__", "__name__",
}  # fmt: skip


def unusual(sources: Sequence[str]) -> tuple[str, ...]:
    """Return what some cells touch outside what notebooks of the course touch, as they write it.

    It is nothing if they cannot be read.
    """
    return guarded(lambda: unusual_if_readable(sources), ())


def unusual_if_readable(sources: Sequence[str]) -> tuple[str, ...]:
    """Return the same, and fail where reading fails: nothing found must not mean nothing read."""
    return tuple(dict.fromkeys(name for source in sources for name in _unusual_in(source)))[:MOST]


@kept
def _unusual_in(source: str) -> tuple[str, ...]:
    nodes = (node for statement in statements(source) for node in statement.nodes)
    return tuple(dict.fromkeys(name for node in nodes for name in _unusual(node)))[:MOST]


def _unusual(node: ast.AST) -> Iterator[str]:
    if isinstance(node, IMPORTS):
        yield from (path for path in import_paths(node) if not _is_usual(path))
    elif isinstance(node, ast.Name) and node.id in CALLS:
        yield node.id
    elif isinstance(node, ast.Attribute) and _is_private(node.attr) and not _is_own(node):
        yield dotted(node) or f".{node.attr}"


def _is_usual(path: str) -> bool:
    root, *rest = path.split(".")
    inside = path.startswith(INSIDE) and path not in OURS
    return root in USUAL and not inside and not any(map(_is_private, rest))


def _is_own(node: ast.Attribute) -> bool:
    return dotted(node).partition(".")[0] in OWN


def _is_private(name: str) -> bool:
    return name.startswith("_") and name not in USUAL_NAMES
