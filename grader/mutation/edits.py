"""A place in a syntax tree, and a change of it."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grader.mutation.words import Words

_NOT_RUN = {"annotation", "returns", "decorator_list", "type_comment", "type_params"}


@dataclass(frozen=True)
class Site:
    """A node, and where in its parent it stands.

    Attributes:
        node: the node itself.
        parent: the node that holds it.
        field: the parent's field.
        index: its place, if the field is a list.
        words: describes expressions.
        names: the answer's parameters and modules, by what may stand for what.

    """

    node: Any
    parent: ast.AST
    field: str
    index: int | None
    words: Words
    names: tuple[frozenset[str], ...]

    def put(self, new: ast.AST) -> None:
        """Put another node in this place."""
        if self.index is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.index] = new


@dataclass(frozen=True)
class Edit:
    """Another node for a site, and what an answer with it is like ("nothing were added")."""

    node: ast.AST
    as_if: str


Edits = Iterator[Edit]


def sites(tree: ast.AST, words: Words, names: tuple[frozenset[str], ...]) -> Iterator[Site]:
    """Walk everything in a tree that runs, without annotations and docstrings."""
    for field, value in ast.iter_fields(tree):
        if field in _NOT_RUN:
            continue
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, item in items:
            if isinstance(item, ast.AST) and not _is_docstring(item, index):
                yield Site(item, tree, field, index, words, names)
                yield from sites(item, words, names)


def _is_docstring(item: ast.AST, index: int | None) -> bool:
    return (
        index is not None
        and isinstance(item, ast.Expr)
        and isinstance(item.value, ast.Constant)
        and isinstance(item.value.value, str)
    )


def changed(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other fields."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def without(items: list[Any], index: int) -> list[Any]:
    """Return a list without one item."""
    return [*items[:index], *items[index + 1 :]]


def exchanged(items: list[Any], one: int, other: int) -> list[Any]:
    """Return a list with two items in each other's place."""
    new = list(items)
    new[one], new[other] = new[other], new[one]
    return new
