"""No cell of a lesson takes a name that the lesson imports: later cells would miss it."""

import ast
from collections.abc import Iterator

import pytest

from tests.course.lesson_runs import ROOT


def imported(tree: ast.Module) -> set[str]:
    nodes = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {(alias.asname or alias.name).split(".")[0] for node in nodes for alias in node.names}


def taken(node: ast.AST) -> Iterator[str]:
    """Names that a statement binds at the top of a notebook."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from taken(child)


def hidden(source: str) -> set[str]:
    tree = ast.parse(source)
    return imported(tree) & {name for node in tree.body for name in taken(node)}


@pytest.mark.parametrize("path", sorted(ROOT.glob("solutions/*.py")), ids=lambda path: path.stem)
def test_no_cell_takes_a_name_that_the_lesson_imports(path):
    assert hidden(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    "cell",
    ["drawn = 1", "for drawn in x:\n    pass", "def drawn():\n    pass", "with a as drawn:\n    b"],
)
def test_a_name_that_is_taken_is_found(cell):
    assert hidden(f"from utils import drawn\n{cell}\n") == {"drawn"}


@pytest.mark.parametrize(
    "cell", ["[drawn for drawn in x]", "def f():\n    drawn = 1", "drawn.way()"]
)
def test_a_name_in_a_scope_of_its_own_hides_nothing(cell):
    assert hidden(f"from utils import drawn\n{cell}\n") == set()
