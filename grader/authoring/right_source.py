"""A lesson's right answers as text, beside its checks: known mistakes are patches of them."""

import ast
import sys
from pathlib import Path
from typing import Final

from grader.authoring.lesson import Lesson
from grader.authoring.regions import SOLUTION, STUB, regions
from utils.checks.bank.source import FILE

KNOWN: Final = sys.stdlib_module_names | {"torch"}
IMPORTS: Final = (ast.Import, ast.ImportFrom)


def source_path(lesson: Lesson, root: Path) -> Path | None:
    """Return where a lesson's right source lies; None if the lesson has no checks of its own."""
    folder = root / "utils" / "checks" / "lessons" / lesson.name.partition("_")[2]
    return folder / FILE if folder.is_dir() else None


def right_source(lesson: Lesson) -> str:
    """Return the lesson's imports, and the cell of each exercise without its stub."""
    parts = ["\n".join(_imports(lesson))]
    parts += [f'# %% exercise="{e.id}"\n{_without_stub(e.source)}' for e in lesson.exercises]
    return "\n\n".join(parts) + "\n"


def _imports(lesson: Lesson) -> list[str]:
    """Return what the lesson imports of torch and Python's own library, each line once."""
    nodes = [node for cell in lesson.cells if cell.kind == "code" for node in _nodes(cell.source)]
    lines = [ast.unparse(n) for n in nodes if isinstance(n, IMPORTS) and _home(n) in KNOWN]
    return list(dict.fromkeys(lines))


def _nodes(source: str) -> list[ast.stmt]:
    """Return a cell's statements; none of a cell with commands of Jupyter's."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def _home(node: ast.Import | ast.ImportFrom) -> str:
    name = (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
    return name.partition(".")[0]


def _without_stub(source: str) -> str:
    lines = source.split("\n")
    for start, end in reversed(regions(source, SOLUTION)):
        stub = [n for n in range(start, end) if lines[n].strip() == STUB]
        del lines[min([*stub, end]) : end]
    return "\n".join(lines)
