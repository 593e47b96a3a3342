"""What the names in a piece of code stand for, found in its syntax tree."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

ALLOWED: Final = {  # with everything below them
    "utils.checks.check", "sys.maxsize", "sys.float_info", "sys.version_info", "sys.stdout",
    "sys.stderr",
}  # fmt: skip
IMPORTABLE: Final = {"sys", "utils.checks"}  # judged by what is used from them
LOOKS_UP: Final = {"getattr", "vars"}
ASKS: Final = LOOKS_UP | {"hasattr"}  # about a module, without keeping it
RECEIVERS: Final = {"self", "cls"}
IMPORTS: Final = (ast.Import, ast.ImportFrom)
# Modules that others import, and thereby offer under paths of their own: torch.functional.torch.
OFFERED: Final = {
    "torch", "importlib", "inspect", "ctypes", "builtins", "gc", "pickle", "marshal", "subprocess",
    "runpy", "pkgutil",
}  # fmt: skip
OFFER: Final = {"torch", "utils"}  # the packages whose paths are read that way
DEEPEST: Final = 6  # parts of the longest path that any rule names, and more
MOST_LINKS: Final = 40  # of a chain of names: every part of a longer one is read by itself


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` as text; the empty string if it is not a plain, short chain of names."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MOST_LINKS:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class Scope:
    """What one piece of code says about its own names.

    Attributes:
        aliases: name -> dotted path, its own imports included.
        bound: names that it assigns.
        receivers: `self` and `cls`, where they can only be parameters.
        classes: classes that it defines.
        called: ids of nodes that are called.
        asked: ids of nodes that a call of `ASKS` is about.

    """

    def __init__(self, code: ast.AST, aliases: Mapping[str, str]) -> None:
        self._nodes = nodes = list(ast.walk(code))
        self.aliases = {**aliases, **dict(imported(nodes))}
        names = [n for n in nodes if isinstance(n, ast.Name)]
        self.bound = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
        given = {n.arg for n in nodes if isinstance(n, ast.arg)}
        self.receivers = (RECEIVERS & given) - self.bound - self.aliases.keys()
        self.classes = {n.name for n in nodes if isinstance(n, ast.ClassDef)}
        calls = [n for n in nodes if isinstance(n, ast.Call)]
        self.called = {id(n.func) for n in calls}
        self.asked = {id(n.args[0]) for n in calls if n.args and dotted(n.func) in ASKS}

    def nodes(self) -> Iterator[ast.AST]:
        """Return all nodes but those that begin a longer path: ``a`` and ``a.b`` of ``a.b.c``."""
        paths = (n for n in self._nodes if isinstance(n, ast.Attribute) and dotted(n))
        begin = {id(n.value) for n in paths}
        return (n for n in self._nodes if id(n) not in begin)

    def resolve(self, path: str) -> str:
        """Return a path with its first name replaced by what an import says it is."""
        root, *rest = path.split(".")
        return shortest(".".join([self.aliases.get(root, root), *rest]))


def shortest(path: str) -> str:
    """Return a path from the last module on: ``torch.jit`` of ``torch.functional.torch.jit``."""
    parts = path.split(".")
    if parts[0] not in OFFER:
        return path
    last = max((n for n, part in enumerate(parts) if part in OFFERED), default=0)
    return ".".join(parts[last:])


def imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names that imports bind, and the dotted paths that they stand for."""
    for node in nodes:
        for alias in getattr(node, "names", ()) if isinstance(node, IMPORTS) else ():
            if isinstance(node, ast.ImportFrom):
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
            else:
                root = alias.name.split(".")[0]
                yield alias.asname or root, alias.name if alias.asname else root


def import_paths(node: ast.AST) -> list[str]:
    """Return what an import names, without what may be imported and is judged where it is used."""
    if isinstance(node, ast.ImportFrom):
        paths = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        paths = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return [path for path in paths if path not in IMPORTABLE]


def leading(path: str) -> set[str]:
    """Return the paths that a path begins with: of ``a.b.c`` a, a.b and a.b.c.

    Those longer than any rule are left out: of a path with thousands of parts they take gibibytes.
    """
    parts = path.split(".", DEEPEST)[:DEEPEST]
    return {".".join(parts[:n]) for n in range(1, len(parts) + 1)}


def is_allowed(path: str) -> bool:
    """Return whether a path is harmless although what it begins with is not."""
    return "._" not in path and bool(leading(path) & ALLOWED)
