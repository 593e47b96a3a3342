"""List every one-place change of an answer's source."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType

from grader.mutation import arithmetic, statements, tensors
from grader.mutation.edits import Edit, Site, sites
from grader.mutation.words import Words, called

_SOLUTION = re.compile(r"(?ms)^ *# BEGIN SOLUTION\n(.*?)^ *# END SOLUTION\n?")
_STUB = re.compile(r"(?ms)^ *# STUB\n(.*)")


OPERATORS = (*arithmetic.OPERATORS, *tensors.OPERATORS, *statements.OPERATORS)
Place = tuple[str, int, int, int]  # an operator, which of its changes, and the line and column


@dataclass(frozen=True)
class Mutant:
    """A changed answer, compiled.

    Attributes:
        as_if: what it is like ("the softmax were left out"), to be read after "as if"; two
            sentences if two places were changed.
        place: which change it is, and where.
        text: what was changed, for the author who looks at a mutant that passes.
        code: the whole source with the change.

    """

    as_if: tuple[str, ...]
    place: Place
    text: str
    code: CodeType


def mutants(source: str, definition: str, known: frozenset[str]) -> Iterator[Mutant]:
    """Make every mutant of one definition in a source.

    Args:
        source: one or more definitions.
        definition: the name of the one to change.
        known: names that a student was given, which may be told.

    """
    tree = ast.parse(source)
    seen = {ast.dump(tree)}
    for place, site, edit in _applied(tree, definition, known):
        if _is_new(tree, seen):
            yield from _compiled(tree, (edit.as_if,), place, site)


def mutants_of_two(
    source: str, definition: str, known: frozenset[str], chosen: Mapping[Place, str]
) -> Iterator[Mutant]:
    """Make every mutant with two of the chosen changes.

    Args:
        source: one or more definitions.
        definition: the name of the one to change.
        known: names that a student was given, which may be told.
        chosen: changes, and how each is told.

    """
    order = {place: n for n, place in enumerate(chosen)}
    tree = ast.parse(source)
    seen = {ast.dump(tree)}
    for first, _, _ in _applied(tree, definition, known):
        if first not in order:
            continue
        for second, site, _ in _applied(tree, definition, known):
            if order.get(second, -1) > order[first] and _is_new(tree, seen):
                yield from _compiled(tree, (chosen[first], chosen[second]), second, site)


def _applied(
    tree: ast.Module, definition: str, known: frozenset[str]
) -> Iterator[tuple[Place, Site, Edit]]:
    """Apply each edit to a tree, hand it out, and undo it."""
    target = next(n for n in tree.body if getattr(n, "name", "") == definition)
    found = list(sites(target, Words(known, _meanings(target)), _alike(target)))
    for operator in OPERATORS:
        for site in found:
            where = getattr(site.node, "lineno", 0), getattr(site.node, "col_offset", 0)
            for number, edit in enumerate(operator(site)):
                site.put(edit.node)
                yield (operator.__name__, number, *where), site, edit
                site.put(site.node)


def _is_new(tree: ast.Module, seen: set[str]) -> bool:
    program = ast.dump(tree)
    is_new = program not in seen
    seen.add(program)
    return is_new


def _compiled(
    tree: ast.Module, as_if: tuple[str, ...], place: Place, site: Site
) -> Iterator[Mutant]:
    try:
        code = compile(ast.unparse(ast.fix_missing_locations(tree)), "<mutant>", "exec")
    except (SyntaxError, ValueError, TypeError):
        return  # no program: Python refuses it, or the tree has an empty place
    yield Mutant(as_if, place, ast.unparse(site.node).splitlines()[0][:100], code)


def names_given(cell: str) -> frozenset[str]:
    """Return every word that a student reads in an exercise's cell, without the solution."""
    shown = _SOLUTION.sub(lambda m: "".join(s.group(1) for s in _STUB.finditer(m.group(1))), cell)
    return frozenset(re.findall(r"[A-Za-z_]\w*", shown)) - {"self", "return", "for", "in"}


def _meanings(target: ast.AST) -> Mapping[str, ast.expr]:
    """Return what the answer's own names are set to, where that is one thing."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(target):
        if isinstance(node, ast.Assign):
            for own in node.targets:
                name = getattr(own, "id", getattr(own, "attr", ""))
                found.setdefault(name, []).append(node.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _alike(target: ast.AST) -> tuple[frozenset[str], ...]:
    """Return groups of names that may stand for each other: parameters, and modules of one kind."""
    groups: dict[str, set[str]] = {}
    for node in ast.walk(target):
        if isinstance(node, ast.arguments):
            for argument in node.args:
                kind = ast.unparse(argument.annotation) if argument.annotation else "any"
                groups.setdefault(f"parameter: {kind}", set()).add(argument.arg)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for own in node.targets:
                if isinstance(own, ast.Attribute):
                    groups.setdefault(f"module: {called(node.value)}", set()).add(own.attr)
    return tuple(frozenset(group - {"self"}) for group in groups.values() if len(group) > 1)
