"""What the names in a piece of code stand for, found in its syntax tree."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

RECEIVERS: Final = {"self", "cls"}
IMPORTS: Final = (ast.Import, ast.ImportFrom)
MOST_PATH: Final = 200  # characters of an import's path: every use of its name repeats them
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

    Args:
        nodes: all that is in it.
        aliases: what imports elsewhere bind.

    Attributes:
        aliases: name -> dotted path, its own imports included.
        receivers: `self` and `cls`, where they are parameters.

    """

    def __init__(self, nodes: Sequence[ast.AST], aliases: Mapping[str, str]) -> None:
        self._nodes = nodes
        self.aliases = {**aliases, **dict(imported(nodes))}
        given = {n.arg for n in nodes if isinstance(n, ast.arg)}
        self.receivers = (RECEIVERS & given) - self.aliases.keys()

    def nodes(self) -> Iterator[ast.AST]:
        """Return all nodes but those that begin a longer path: ``a`` and ``a.b`` of ``a.b.c``."""
        paths = (n for n in self._nodes if isinstance(n, ast.Attribute) and dotted(n))
        begin = {id(n.value) for n in paths}
        return (n for n in self._nodes if id(n) not in begin)

    def resolve(self, path: str) -> str:
        """Return a path with its first name replaced by what an import says it is."""
        root, *rest = path.split(".")
        return ".".join([self.aliases.get(root, root), *rest])


def imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names that imports bind, and the dotted paths that they stand for."""
    for node in nodes:
        for alias in getattr(node, "names", ()) if isinstance(node, IMPORTS) else ():
            if isinstance(node, ast.ImportFrom):
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"[:MOST_PATH]
            else:
                root = alias.name.split(".")[0]
                yield alias.asname or root, alias.name[:MOST_PATH] if alias.asname else root


def import_paths(node: ast.AST) -> list[str]:
    """Return the paths that an import names; none for any other node."""
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
