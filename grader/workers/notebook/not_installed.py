"""Stand-ins for libraries that a student's machine has and the grader's lacks.

Few answers compute with one. Most name it beside their work: in an annotation, as a decorator, to
draw or to note something.
"""

import ast
import sys
from collections.abc import Callable
from typing import Any, Final, Self

from grader.workers.notebook.inert import Inert

SAYS: Final = "which is not installed where grading runs"


class NotInstalled(Inert):
    """Stands for a library and for all that it gives, whatever is asked of it.

    It can decorate, annotate, and be called for what nobody needs. It is no number and no tensor,
    and holds nothing: what computes with it fails, and the error names its type, which says why.
    """

    __iter__ = None  # or Python would ask for one item after another

    def __call__(self, *given: Any, **named: object) -> Any:
        """Return what it decorates or prepares; what takes more computes something."""
        return super().__call__(*given, **named) if len(given) == 1 else self

    def __setattr__(self, _name: str, _value: object) -> None:
        pass

    def __getitem__(self, _key: object) -> Self:
        return self

    def __setitem__(self, _key: object, _value: object) -> None:
        pass

    def __or__(self, _other: object) -> Self:
        return self

    __ror__ = __or__

    def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[type, ...]:
        return ()

    def __instancecheck__(self, _instance: object) -> bool:
        return False


def not_installed(name: str) -> NotInstalled:
    """Return what stands for a library: its type's name stands in errors."""
    made: Callable[[], NotInstalled] = type(f"{name}, {SAYS}", (NotInstalled,), {})
    return made()


def stand_in(statement: ast.stmt, namespace: dict[str, Any]) -> None:
    """Bind the names that a statement that failed would have imported, each on its own."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                name = alias.asname or root
                if not _is_imported(ast.Import([alias]), name, namespace):
                    # Of `import torch.more`, torch is there.
                    above = None if alias.asname else sys.modules.get(root)
                    namespace[name] = above or not_installed(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name
                alone = ast.ImportFrom(node.module, [alias], node.level)
                if not _is_imported(alone, name, namespace):
                    namespace[name] = not_installed(f"{node.module}.{alias.name}")


def _is_imported(alone: ast.stmt, name: str, namespace: dict[str, Any]) -> bool:
    """Return whether a name is there, for what it may be, or could be imported now."""
    if name in namespace or name == "*":
        return True
    code = ast.fix_missing_locations(ast.Module([alone], []))
    try:
        exec(compile(code, "<import>", "exec"), namespace)
    except Exception:  # a library may fail at its import in any way
        return False
    return True
