"""Whether a piece of code reaches something that an exercise rules out."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

# Ways to reach anything by another name. No exercise of the course needs one of them.
BACK_DOORS: Final = {
    "eval", "exec", "compile", "globals", "locals", "__import__", "importlib", "sys", "gc",
    "inspect", "ctypes", "operator.attrgetter", "operator.methodcaller", "pickle", "marshal",
    "builtins", "subprocess", "runpy", "pkgutil", "torch._C", "torch._refs", "torch._VF",
    "torch.ops", "torch.jit", "torch._dynamo", "torch._decomp", "torch._inductor",
    "torch.nn.attention", "torch.overrides", "torch.utils.cpp_extension", "grader",
    "utils.checks", "utils.blocks", "utils.carry", "get_ipython",
}  # fmt: skip
ALLOWED: Final = {  # with what is below them
    "utils.checks.check", "sys.maxsize", "sys.float_info", "sys.version_info", "sys.stdout",
    "sys.stderr",
}  # fmt: skip
IMPORTABLE: Final = {"sys", "utils.checks"}  # judged by what is used of them
SPECIAL: Final = {
    "__dict__", "__globals__", "__builtins__", "__code__", "__closure__", "__getattribute__",
    "__subclasses__", "__mro__", "__bases__", "__base__", "__self__", "__func__", "__wrapped__",
    "__loader__", "__spec__", "f_globals", "f_locals", "f_back", "gi_frame", "tb_frame", "mro",
    "attrgetter", "methodcaller", "_C", "_VF", "_refs", "_decomp", "_VariableFunctions", "aten",
}  # fmt: skip
HOMES: Final = ("torch", "utils")  # where what is ruled out goes by whatever path
# Under a name of its own (`t = torch`), what is read of one of these could not be told.
MODULES: Final = {"torch", "torch.nn", "torch.nn.functional", "torch.special"}
LOOKS_UP: Final = {"getattr", "vars"}
ASKS: Final = LOOKS_UP | {"hasattr"}  # about a module, without keeping it
RECEIVERS: Final = {"self", "cls"}
METHODS_OF: Final = "torch.Tensor."
IMPORTS: Final = (ast.Import, ast.ImportFrom)
MOST_LINKS: Final = 40  # of a chain of names: every part of a longer one is read by itself


def dotted(node: ast.AST) -> str:
    """``a.b.c`` as text; the empty string where it is not a plain, short chain of names."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MOST_LINKS:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class _Scope:
    """What one piece of code says of its own names.

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
        """All nodes but those that begin a longer path: of ``a.b.c``, not ``a`` and ``a.b``."""
        paths = (n for n in self._nodes if isinstance(n, ast.Attribute) and dotted(n))
        begin = {id(n.value) for n in paths}
        return (n for n in self._nodes if id(n) not in begin)

    def resolve(self, path: str) -> str:
        """A path, its first name replaced by what an import says that it is."""
        root, *rest = path.split(".")
        return ".".join([self.aliases.get(root, root), *rest])


def imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names that imports bind, and the dotted paths that they stand for."""
    for node in nodes:
        for alias in getattr(node, "names", ()) if isinstance(node, IMPORTS) else ():
            if isinstance(node, ast.ImportFrom):
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
            else:
                root = alias.name.split(".")[0]
                yield alias.asname or root, alias.name if alias.asname else root


def _import_paths(node: ast.AST) -> list[str]:
    """What an import names, left out what may be imported and is judged where it is used."""
    if isinstance(node, ast.ImportFrom):
        paths = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        paths = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return [path for path in paths if path not in IMPORTABLE]


class Reach:
    """Looks for one exercise's offences.

    Args:
        aliases: name -> the dotted path that an import gave it.
        stars: modules imported with ``*``.
        forbidden: dotted names that the exercise rules out.
        exercise: its id, whose own name is no offence.
    """

    def __init__(
        self,
        aliases: Mapping[str, str],
        stars: Sequence[str],
        forbidden: Sequence[str],
        exercise: str,
    ) -> None:
        self._aliases, self._stars, self._exercise = aliases, stars, exercise
        self._methods = {n.removeprefix(METHODS_OF) for n in forbidden if METHODS_OF in n}
        self._last = {name.rsplit(".", 1)[1] for name in forbidden}

    def offence(self, code: ast.AST) -> str:
        """The first offence in a piece of code, as a sentence for the student; or nothing."""
        scope = _Scope(code, self._aliases)
        return next((found for node in scope.nodes() if (found := self._node(node, scope))), "")

    def import_offence(self, name: str, *, defined: bool) -> str:
        """Whether a name that an answer uses was imported from where it must not come."""
        path = self._aliases.get(name, "")
        if path:
            return "" if path in IMPORTABLE else self._path(path)
        paths = [] if defined else [f"{star}.{name}" for star in self._stars]
        return next(filter(None, map(self._path, paths)), "")

    def _node(self, node: ast.AST, scope: _Scope) -> str:
        if not self._last:
            return _path_through(node, scope)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.Call):
            return self._call(node, scope) or _foreign_super(node, scope)
        if isinstance(node, ast.Name):
            return _bare(node, scope)
        if isinstance(node, ast.MatchClass):
            return next((_says(name) for name in node.kwd_attrs if name in self._last), "")
        return next(filter(None, map(self._path, _import_paths(node))), "")

    def _attribute(self, node: ast.Attribute, scope: _Scope) -> str:
        path = dotted(node)
        root, *attributes = path.split(".") if path else ("", node.attr)
        if special := next((name for name in attributes if name in SPECIAL), ""):
            return _says(special)
        if root in scope.receivers:
            return ""
        resolved = scope.resolve(path)
        if resolved.startswith(HOMES):
            return self._path(resolved) or _module(node, scope)
        method = next((name for name in attributes if name in self._methods), "")
        return _says(method) if method else _back_door(resolved)

    def _call(self, node: ast.Call, scope: _Scope) -> str:
        """``getattr(x, name)``: harmless on self, an offence where the name cannot be read."""
        if dotted(node.func) not in (*LOOKS_UP, "torch.Tensor.__getattr__"):
            return ""
        owner = dotted(node.args[0]) if node.args else ""
        if owner.split(".")[0] in scope.receivers:
            return ""
        name = node.args[1] if len(node.args) > 1 else None
        if isinstance(name, ast.Constant) and name.value not in self._last | SPECIAL:
            path = f"{scope.resolve(owner)}.{name.value!s}"
            return _says(path) if path in MODULES else _back_door(path)
        return _says(ast.unparse(node)[:60])

    def _path(self, path: str) -> str:
        ruled_out = path.startswith(HOMES) and not self._last.isdisjoint(path.split("."))
        return _says(path) if ruled_out and not _allowed(path) else _back_door(path)


def _path_through(node: ast.AST, scope: _Scope) -> str:
    """A back door by its path, where nothing else is ruled out: all other ways are harmless."""
    named = isinstance(node, (ast.Attribute, ast.Name))
    paths = [scope.resolve(dotted(node))] if named else _import_paths(node)
    return next(filter(None, map(_back_door, paths)), "")


def _bare(node: ast.Name, scope: _Scope) -> str:
    """A name that stands alone: a back door, a module, or a function that finds anything."""
    looks_up = node.id in LOOKS_UP - scope.bound and id(node) not in scope.called
    return (
        _says(node.id) if looks_up else _back_door(scope.resolve(node.id)) or _module(node, scope)
    )


def _module(node: ast.Attribute | ast.Name, scope: _Scope) -> str:
    """A module that is kept or handed on, and could be used under a name that tells nothing."""
    kept = isinstance(node.ctx, ast.Load) and id(node) not in scope.asked
    return _says(dotted(node)) if kept and scope.resolve(dotted(node)) in MODULES else ""


def _foreign_super(node: ast.Call, scope: _Scope) -> str:
    """``super(type(x), x)``: the methods of another's base class."""
    if dotted(node.func) != "super" or not node.args:
        return ""
    cls, *of = map(dotted, node.args)
    own = cls in scope.classes | {"__class__"} and set(of) <= scope.receivers
    return "" if own else _says(ast.unparse(node)[:60])


def _leading(path: str) -> set[str]:
    """``a.b.c``: a, a.b and a.b.c."""
    parts = path.split(".")
    return {".".join(parts[:n]) for n in range(1, len(parts) + 1)}


def _allowed(path: str) -> bool:
    return "._" not in path and bool(_leading(path) & ALLOWED)


def _back_door(path: str) -> str:
    return _says(path) if _leading(path) & BACK_DOORS and not _allowed(path) else ""


def _says(what: str) -> str:
    return (
        f"`{what}` can do what this exercise asks you to build, so the answer was not run: "
        "write it without."
    )


# What reaches into the running program itself. No exercise of the course has a use for it.
INTRUSIVE: Final = {
    "__code__", "__globals__", "__closure__", "__subclasses__", "__builtins__", "cell_contents",
    "f_globals", "f_locals", "f_back", "tb_frame", "gi_frame", "get_objects", "get_referrers",
    "get_referents", "_getframe", "_current_frames", "currentframe", "settrace", "setprofile",
    "settrace_all_threads", "setprofile_all_threads", "addaudithook", "__import__", "__loader__",
    "__spec__",
}  # fmt: skip
INTRUSIVE_ROOTS: Final = {
    "ctypes", "marshal", "grader", "utils.checks", "importlib", "pydoc", "pkgutil", "runpy",
    "imp.load_module", "imp.load_source", "zipimport", "unittest.mock", "sys.modules",
    "sys.monitoring", "sys.__dict__", "sys.__getattribute__", "sys.*", "utils.*", "exec",
    "builtins.exec", "pickle.load", "pickle.loads", "pickle.Unpickler",
    # Here torch's functions run unseen by what refuses them while an answer is observed.
    "torch._C", "torch.overrides", "torch.jit", "torch._dynamo", "torch.export", "torch.fx",
    "torch.utils._python_dispatch", "compile", "builtins.compile",
}  # fmt: skip
# Kept or handed on, these give all of the above under a name that tells nothing.
KEYS: Final = {"sys", "builtins", "gc", "inspect", "threading", "utils", "utils.checks"}
NAMESPACES: Final = {"globals", "locals", "vars"}
WRITERS: Final = {"update", "setdefault", "__setitem__", "__ior__"}
INSIDE: Final = re.compile(r"(grader\.|utils\.checks|utils\.blocks)[\w.]*")


def intrusion(code: ast.AST, aliases: Mapping[str, str]) -> str:
    """What in a piece of code reaches into the running program, if anything does."""
    scope = _Scope(code, aliases)
    return next((found for node in scope.nodes() if (found := _intruding(node, scope))), "")


def _intruding(node: ast.AST, scope: _Scope) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) and _tells(node.value) else ""
    if isinstance(node, IMPORTS):
        return next(filter(_is_intrusive, _import_paths(node)), "")
    if _binds_unseen(node):
        return "globals()"
    path = _path_of(node)
    kept = isinstance(getattr(node, "ctx", None), ast.Load) and scope.resolve(path) in KEYS
    return path if kept or _is_intrusive(scope.resolve(path)) else ""


def _binds_unseen(node: ast.AST) -> bool:
    """``globals()["a"] = x`` or ``vars().update(a=x)``: binds a name where no reader sees it."""
    if not isinstance(node, (ast.Attribute, ast.Subscript)) or not isinstance(node.value, ast.Call):
        return False
    writes = not isinstance(node.ctx, ast.Load) or getattr(node, "attr", "") in WRITERS
    return writes and not node.value.args and dotted(node.value.func) in NAMESPACES


def _tells(text: str) -> bool:
    """Whether a text names what only code that reaches into the program would name."""
    inside = INSIDE.fullmatch(text) and not _allowed(text)
    return bool(inside) or text in INTRUSIVE or "sys.modules" in text or "__import__" in text


def _path_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return dotted(node) or f".{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is_intrusive(path: str) -> bool:
    parts = path.split(".")
    inside = not INTRUSIVE.isdisjoint(parts) or "sys" in parts[1:]
    return inside or (bool(_leading(path) & INTRUSIVE_ROOTS) and not _allowed(path))
