"""Write a script from a notebook's cells: the definitions that it needs, and nothing else.

A notebook cannot train on several GPUs itself: each GPU needs a separate process, and a process
that has used a GPU cannot be duplicated. So the notebook writes down what it holds, to be run.
"""

import ast
import builtins
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from utils.errors import UserError
from utils.kernel.statements import names_given, names_read, statements_of

NEEDED = ("make_model", "batches", "train_step", "dev_accuracy", "settings")
KNOWN = {*dir(builtins), "__name__", "__file__"}
Function = (ast.FunctionDef, ast.AsyncFunctionDef)
Import = (ast.Import, ast.ImportFrom)
# These give their names a value whatever the names meant before; other statements may not.
Whole = (*Function, *Import, ast.ClassDef, ast.Assign, ast.AnnAssign)

SCRIPT = '''"""Written by the notebook, out of its cells. To run it on two GPUs:

    torchrun --standalone --nproc_per_node=2 {name}

With --max_restarts=3 also set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1, for processes to meet again.
"""

{definitions}

if __name__ == "__main__":
    from pathlib import Path

    from utils.training.distributed import train_parallel

    train_parallel({arguments}, file=Path(__file__).with_suffix(".pt"))
'''


class NotDefinedYet(UserError):
    """The notebook has not run a definition that the script needs; the message says which."""


def write_script(
    path: Path | str, cells: Sequence[str], names: Sequence[str] = NEEDED
) -> list[str]:
    """Write a script that trains with `utils.training.distributed.train_parallel`.

    Args:
        path: path of the script.
        cells: the notebook's cells in the order in which they were run: IPython's `In`.
        names: arguments of `train_parallel`, in its order.

    Returns:
        The names that the script defines.

    Raises:
        NotDefinedYet: a needed name is defined nowhere; the message says which.

    """
    path, parts = Path(path), needed_parts(cells, names)
    definitions, arguments = source_of_parts(parts), ", ".join(names)
    text = SCRIPT.format(name=path.name, definitions=definitions, arguments=arguments)
    path.write_text(text, encoding="utf-8")
    return [name for part in parts if not part.is_import for name in sorted(part.names)]


@dataclass(frozen=True)
class Part:
    """A statement of a cell, outside functions and classes, that gives names a value.

    Attributes:
        statement: its syntax tree.
        cell: the source of its cell.

    """

    statement: ast.stmt
    cell: str

    @cached_property
    def text(self) -> str:
        """Return the statement as written, with decorators and without comments around it."""
        decorators = getattr(self.statement, "decorator_list", [])
        shown = [f"@{ast.get_source_segment(self.cell, decorator)}" for decorator in decorators]
        return "\n".join([*shown, ast.get_source_segment(self.cell, self.statement) or ""])

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that it gives a value."""
        return names_given(self.statement)

    @cached_property
    def uses(self) -> set[str]:
        """Return the notebook's names that it reads, at once or when its functions are called."""
        return names_read(self.statement)

    @cached_property
    def uses_at_once(self) -> set[str]:
        """Return the names that need a value before it: a base class, but not what methods call."""
        return set(_read_at_once(self.statement)) & self.uses

    @cached_property
    def uses_later(self) -> set[str]:
        """Return the names that its functions read when they are called."""
        return set(_read_later(self.statement)) & self.uses

    @property
    def is_import(self) -> bool:
        """Return whether it is an import."""
        return isinstance(self.statement, Import)

    @property
    def imports_all(self) -> bool:
        """Return whether it is `from module import *`, which may define any name."""
        return self.is_import and any(alias.name == "*" for alias in self.statement.names)  # type: ignore[attr-defined]


def _read_at_once(node: ast.AST) -> Iterator[str]:
    """Yield the names that are read when a statement runs: not those inside its functions."""
    inside: Iterator[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.Lambda):
        inside = iter([node.args])  # its default values
    elif isinstance(node, Function):
        returns = [] if node.returns is None else [node.returns]
        inside = iter([*node.decorator_list, node.args, *returns])
    for child in inside:
        yield from _read_at_once(child)


def _read_later(statement: ast.stmt) -> Iterator[str]:
    for function in ast.walk(statement):
        if isinstance(function, (*Function, ast.Lambda)):
            body = function.body if isinstance(function.body, list) else [function.body]
            inside = itertools.chain.from_iterable(map(ast.walk, body))
            yield from (node.id for node in inside if isinstance(node, ast.Name))


def needed_parts(cells: Sequence[str], names: Sequence[str]) -> list[Part]:
    """Return the statements that the names need, in the order in which they were run.

    If a name has several definitions, the last one counts. For what a statement needs at once, such
    as a base class or the settings that it changes, the last one before it counts, as in the
    notebook.

    Args:
        cells: sources, in the order in which they were run; those that are not Python are skipped.
        names: the names needed.

    Raises:
        NotDefinedYet: a name is defined nowhere; the message says which.

    """
    parts = [part for cell in cells for part in _parts(cell)]
    chosen = _Choice(parts)
    for name in names:
        chosen.add(name, len(parts))
    return [part for i, part in enumerate(parts) if i in chosen.places or part.imports_all]


def source_of_parts(parts: Sequence[Part]) -> str:
    """Join statements: imports first, each once, then the rest, with an empty line after each."""
    imports = dict.fromkeys(part.text for part in parts if part.is_import)
    first = sorted(imports, key=lambda text: not text.startswith("from __future__"))
    return "\n\n".join(["\n".join(first), *(p.text for p in parts if not p.is_import)]).strip()


def _parts(cell: str) -> Iterator[Part]:
    read = (s for s in statements_of(cell) if not isinstance(s, (ast.Delete, ast.Expr)))
    parts = (Part(statement, cell) for statement in read)
    yield from (part for part in parts if part.names or part.imports_all)


class _Choice:
    """The places of the statements chosen so far."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts, self.places = parts, set[int]()
        self.imports_all = any(part.imports_all for part in parts)
        self.seen: set[tuple[int, int]] = set()

    def add(self, name: str, before: int, user: str = "") -> None:
        """Choose what gives a name its value before a place, and everything that this needs."""
        place = self._last(name, before)
        if place is None:
            self._is_known(name, user)
        elif (place, before) not in self.seen:
            self.seen.add((place, before))
            self.places.add(place)
            self._add_what_is_used(self.parts[place], place, before, name)

    def _add_what_is_used(self, part: Part, place: int, before: int, name: str) -> None:
        for used in sorted(part.uses_at_once):
            is_there = self._last(used, place) is not None
            self.add(used, place if is_there else before, name)
        for used in sorted(part.uses_later):
            self.add(used, before, name)
        if not isinstance(part.statement, Whole):
            for own in sorted(part.names):
                if self._last(own, place) is not None:
                    self.add(own, place)

    def _last(self, name: str, before: int) -> int | None:
        return next((i for i in reversed(range(before)) if name in self.parts[i].names), None)

    def _is_known(self, name: str, user: str) -> None:
        if name not in KNOWN and not self.imports_all:
            who = f", which {user} uses," if user else ""
            raise NotDefinedYet(f"{name}{who} is not defined in the notebook yet")
