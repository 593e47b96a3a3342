"""Verify a lesson's text before anything is built from it."""

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from grader.authoring.percent import Cell
from grader.authoring.regions import HIDDEN, SOLUTION, RegionError, regions, stubbed
from grader.authoring.test_cell import FormError, read_test_cell

MAX_LINES = 30
MAX_ID = 59  # a notebook's cell id has at most 64 characters, and "test_" takes 5
KEYS = ("exercise", "test", "points", "tags")
TAGS = ("skip-grading", "measured", "folded", "raises-exception")
IMPORT = "from utils.checks import check"


@dataclass(frozen=True, order=True)
class Fault:
    """Something an author must fix, and its line in the text, counted from 1."""

    line: int
    message: str


def problems(cells: list[Cell]) -> list[Fault]:
    """Return everything that is wrong with a lesson's cells, in line order."""
    found = [p for cell in cells for p in _header_problems(cell)]
    if found:  # the other rules read headers: they would only repeat these problems
        return found
    for cell in cells:
        found += [p for rule in _RULES for p in rule(cell)]
    found += [*_pairing_problems(cells), *_import_problems(cells)]
    return sorted(found)


def _header_problems(cell: Cell) -> Iterator[Fault]:
    allowed = KEYS if cell.kind == "code" else ()
    for key, value in cell.header.items():
        if key not in allowed:
            yield Fault(cell.line, _unknown_key(key, value, allowed))
        elif not _VALID[key](value):
            yield Fault(cell.line, f"{key}={value!r} is not valid: {_NEEDS[key]}")
    if cell.exercise and cell.test:
        yield Fault(cell.line, "a cell is an exercise or its test, not both: make it two cells")
    if ("test" in cell.header) != ("points" in cell.header):
        yield Fault(cell.line, 'write test="NAME" and points=NUMBER together')
    if cell.kind not in ("code", "markdown"):
        yield Fault(cell.line, f"cell type {cell.kind!r}: use code or [markdown]")


def _unknown_key(key: str, value: Any, allowed: tuple[str, ...]) -> str:
    if key == "title":
        return f"the header reads as a title, {value!r}: write options as key=value, or nothing"
    if key == "incorrectly_encoded_metadata":
        return f"the header cannot be read: {value}"
    here = ", ".join(allowed) if allowed else "none in a text cell"
    return f"unknown header key {key!r}; known here: {here}"


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier() and len(value) <= MAX_ID


def _is_points(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value > 0


def _is_tags(value: Any) -> bool:
    return isinstance(value, list) and all(tag in TAGS for tag in value)


_VALID: dict[str, Callable[[Any], bool]] = {
    "exercise": _is_id,
    "test": _is_id,
    "points": _is_points,
    "tags": _is_tags,
}
_NEEDS = {
    "exercise": f"an exercise's id is a Python name of at most {MAX_ID} characters",
    "test": f"an exercise's id is a Python name of at most {MAX_ID} characters",
    "points": "points are a number above 0",
    "tags": "tags are a list of " + ", ".join(TAGS),
}


def _size_problems(cell: Cell) -> Iterator[Fault]:
    if cell.kind != "code":
        return
    n_lines = len(cell.source.split("\n"))
    if not cell.source.strip():
        yield Fault(cell.line, "an empty code cell: remove it")
    elif n_lines > MAX_LINES and not (cell.exercise or cell.test):
        yield Fault(cell.line, f"{n_lines} lines; a code cell has at most {MAX_LINES}: split it")


def _marker_problems(cell: Cell) -> Iterator[Fault]:
    """Yield faults for markers outside their kind of cell: students would see the whole region."""
    for markers, is_home, home in (
        (SOLUTION, cell.exercise, 'exercise="..."'),
        (HIDDEN, cell.test, 'test="..."'),
    ):
        if not is_home and any(marker in cell.source for marker in markers):
            yield Fault(cell.line, f"`{markers[0]}` outside a cell with the header {home}")


def _exercise_problems(cell: Cell) -> Iterator[Fault]:
    if cell.exercise is None:
        return
    if "skip-grading" in cell.tags:
        yield Fault(cell.line, "an exercise must run when it is graded: remove skip-grading")
    try:
        if not regions(cell.source, SOLUTION):
            yield Fault(cell.line, f"no solution region: add `# {SOLUTION[0]}`, `# {SOLUTION[1]}`")
            return
        stub = stubbed(cell.source, cell.exercise)
    except RegionError as error:
        yield Fault(cell.line + 1 + error.offset, str(error))
        return
    for what, source in (("solution", cell.source), ("stub", stub)):
        yield from _binding_problems(cell, what, source)


def _binding_problems(cell: Cell, what: str, source: str) -> Iterator[Fault]:
    """Yield a fault unless the source is Python and defines the name that the test cell reads."""
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        yield Fault(cell.line, f"the {what} is not Python: {error.msg}, its line {error.lineno}")
        return
    if not any(cell.exercise in _names(statement) for statement in body):
        yield Fault(cell.line, f"the {what} does not define {cell.exercise} at its top level")


def _names(statement: ast.stmt) -> set[str]:
    """Return the names that a top-level statement binds."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return set()


def _test_problems(cell: Cell) -> Iterator[Fault]:
    if cell.test is None:
        return
    if "skip-grading" in cell.tags:
        yield Fault(cell.line, "a test must run when it is graded: remove skip-grading")
    try:
        points = read_test_cell(cell.source, cell.test).points
    except FormError as error:
        yield Fault(cell.line + 1 + error.offset, str(error))
        return
    if points != cell.header["points"]:
        header = cell.header["points"]
        yield Fault(cell.line, f"points={header} here, points={points:g} in the hidden call")


_RULES: tuple[Callable[[Cell], Iterator[Fault]], ...] = (
    _size_problems,
    _marker_problems,
    _exercise_problems,
    _test_problems,
)


def _pairing_problems(cells: list[Cell]) -> Iterator[Fault]:
    """Yield faults unless each exercise occurs once, followed by its one test."""
    places = [(cell.line, role, cell.header[role]) for cell in cells for role in _roles(cell)]
    counts = Counter((role, name) for _, role, name in places)
    seen: set[tuple[str, str]] = set()
    for line, role, name in places:
        if (role, name) in seen:
            yield Fault(line, f"second {role} cell of {name!r}: give it an id of its own")
        elif role == "exercise" and not counts["test", name]:
            yield Fault(line, f'no test cell: add `# %% test="{name}" points=...` after it')
        elif role == "test" and ("exercise", name) not in seen:
            yield Fault(line, f'no exercise cell before it: add `# %% exercise="{name}"`')
        seen.add((role, name))
    for name in {name for _, _, name in places if ("exercise", f"test_{name}") in counts}:
        yield Fault(1, f"the cell ids of exercise 'test_{name}' and test {name!r} collide")


def _roles(cell: Cell) -> list[str]:
    return [role for role in ("exercise", "test") if role in cell.header]


def _import_problems(cells: list[Cell]) -> Iterator[Fault]:
    first = next((cell for cell in cells if cell.kind == "code"), None)
    if first is None or not any(cell.test for cell in cells):
        return
    if IMPORT not in first.source.split("\n"):
        yield Fault(first.line, f"the first code cell must have the line `{IMPORT}`")
    if "skip-grading" in first.tags:
        yield Fault(first.line, "the first code cell must run when graded: remove skip-grading")
