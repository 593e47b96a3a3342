"""Right implementations, lent to the isolated process one by one.

None of them is in its memory or in a file that it may read. What observing needs (the stand-in for
an earlier exercise, a block that a later lesson carries) it asks the watcher for, by importing it.
From then on the watcher takes no more messages about the exercises that were lent an answer: they
have been observed, or they are given up.

What no work of a lesson asks for is not lent to it: another lesson's helper may be of use in ways
that nobody thought of (what pads tags also tells words from padding).
"""

import base64
import functools
import json
import marshal
from collections.abc import Callable, Collection, Iterable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from utils import reference
from utils.checks.registry import probes

PACKAGE: Final = f"{reference.__name__}."
FOLDER: Final = Path(reference.__path__[0])
# Packages in it, which hold no code of their own.
ROOMS: Final = {PACKAGE + home.rpartition(".")[0] for home in reference.HOMES.values()} - {PACKAGE}


class Borrower(MetaPathFinder, Loader):
    """The isolated side: imports what is lent.

    Args:
        ask: sends a request to the watcher and returns its reply.

    """

    def __init__(self, ask: Callable[[bytes], bytes]) -> None:
        self._ask = ask
        self._lent: dict[str, bytes] = {}

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Ask for a module of the package; leave all others to the next finder.

        Packages in it hold no code: they are made here.
        """
        if not fullname.startswith(PACKAGE):
            return None
        if fullname in ROOMS:
            return ModuleSpec(fullname, self, is_package=True)
        reply = json.loads(self._ask(f'{{"lend": "{fullname}"}}'.encode()))
        if "code" not in reply:
            raise ModuleNotFoundError(f"{fullname} is not here while grading", name=fullname)
        self._lent[fullname] = base64.b64decode(reply["code"])
        return ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the code that was lent."""
        if module.__name__ not in ROOMS:
            exec(marshal.loads(self._lent.pop(module.__name__)), vars(module))


def lend(raw: bytes, modules: Collection[str]) -> tuple[bytes, frozenset[str]]:
    """Answer a request; also return the exercises that it is an answer to.

    Args:
        raw: the request; it comes from a process that runs a student's code.
        modules: what may be lent.

    """
    module = _asked_for(raw)
    return _lent(module) if module in modules else (b"{}", frozenset())


@functools.cache
def lent_to(asked: frozenset[str]) -> frozenset[str]:
    """Return the modules that are lent where these exercises are observed.

    They hold the stand-ins, and all blocks: a notebook may carry any of them.
    """
    stand_ins = (path for exercise in asked for path in probes()[exercise].stand_ins.values())
    homes = {reference.HOMES[block] for block in reference.BLOCKS}
    return _with_parts(
        {*homes, *(path.removeprefix(PACKAGE).rpartition(".")[0] for path in stand_ins)}
    )


def _with_parts(modules: Iterable[str]) -> frozenset[str]:
    """Return modules and those that they import."""
    parts = (imported_by(_code(module)) for module in modules)
    inside = [name.removeprefix(PACKAGE) for names in parts for name in names]
    return frozenset(modules) | (_with_parts(inside) if inside else frozenset())


@functools.cache  # a process may ask as often as it likes
def _lent(module: str) -> tuple[bytes, frozenset[str]]:
    code = base64.b64encode(marshal.dumps(_code(module))).decode()
    return json.dumps({"code": code}).encode(), answers_in(module)


def _asked_for(raw: bytes) -> str:
    try:
        return str(json.loads(raw)["lend"]).removeprefix(PACKAGE)
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""


def answers_in(module: str) -> frozenset[str]:
    """Return the exercises that a module, a part of it, or one that it imports, is an answer to."""
    own = {exercise for exercise, home in reference.HOMES.items() if home == module}
    own.update(reference.INSIDE.get(module, ()))
    inside = (name.removeprefix(PACKAGE) for name in imported_by(_code(module)))
    return frozenset(own).union(*map(answers_in, inside))


def imported_by(code: CodeType) -> Collection[str]:
    """Return the modules of the package that a module's code imports, read and not run."""
    return [name for name in code.co_names if name.startswith(PACKAGE)]


def _code(module: str) -> CodeType:
    """Return a module's code, which Python keeps ready beside its source."""
    name = PACKAGE + module
    code = SourceFileLoader(name, f"{FOLDER.joinpath(*module.split('.'))}.py").get_code(name)
    assert code is not None  # only a built-in module has none
    return code
