"""Find code that reaches something that an exercise rules out."""

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from grader.static_analysis.names import (
    IMPORTABLE,
    LOOKS_UP,
    Scope,
    dotted,
    import_paths,
    is_allowed,
    leading,
)

# Ways to reach anything under another name. No exercise of the course needs one of them.
BACK_DOORS: Final = {
    "eval", "exec", "compile", "globals", "locals", "__import__", "importlib", "sys", "gc",
    "inspect", "ctypes", "operator.attrgetter", "operator.methodcaller", "pickle", "marshal",
    "builtins", "subprocess", "runpy", "pkgutil", "torch._C", "torch._refs", "torch._VF",
    "torch.ops", "torch.jit", "torch._dynamo", "torch._decomp", "torch._inductor",
    "torch.nn.attention", "torch.overrides", "torch.utils.cpp_extension", "grader",
    "utils.checks", "utils.reference", "utils.notebook.carry", "get_ipython",
    # Without a fault, or turned by nothing, these are the lesson's own exercise.
    "utils.experiments.buggy.FaultyAttention", "utils.experiments.buggy.with_fault",
    "utils.training.rotary.RotaryAttention",
}  # fmt: skip
SPECIAL: Final = {
    "__dict__", "__globals__", "__builtins__", "__code__", "__closure__", "__getattribute__",
    "__subclasses__", "__mro__", "__bases__", "__base__", "__self__", "__func__", "__wrapped__",
    "__loader__", "__spec__", "f_globals", "f_locals", "f_back", "gi_frame", "tb_frame", "mro",
    "attrgetter", "methodcaller", "_C", "_VF", "_refs", "_decomp", "_VariableFunctions", "aten",
}  # fmt: skip
HOMES: Final = ("torch", "utils")  # below these, what is ruled out is ruled out by any path
# If one of these had another name (`t = torch`), what is read from it could not be told.
MODULES: Final = {
    "torch", "torch.nn", "torch.nn.functional", "torch.special", "utils.experiments",
    "utils.experiments.buggy", "utils.training", "utils.training.rotary",
}  # fmt: skip
METHODS_OF: Final = "torch.Tensor."


class Reach:
    """Look for one exercise's offences.

    Args:
        aliases: name -> the dotted path that an import gave it.
        stars: modules imported with ``*``.
        forbidden: dotted names that the exercise rules out.

    """

    def __init__(
        self,
        aliases: Mapping[str, str],
        stars: Sequence[str],
        forbidden: Sequence[str],
    ) -> None:
        self._aliases, self._stars = aliases, stars
        self._methods = {n.removeprefix(METHODS_OF) for n in forbidden if METHODS_OF in n}
        self._last = {name.rsplit(".", 1)[1] for name in forbidden}

    def offence(self, code: ast.AST) -> str:
        """Return the first offence in a piece of code, as a sentence for the student, else ""."""
        scope = Scope(code, self._aliases)
        return next((found for node in scope.nodes() if (found := self._node(node, scope))), "")

    def import_offence(self, name: str, *, defined: bool) -> str:
        """Return the offence if a name that an answer uses was imported from a forbidden place."""
        path = self._aliases.get(name, "")
        if path:
            return "" if path in IMPORTABLE else self._path(path)
        paths = [] if defined else [f"{star}.{name}" for star in self._stars]
        return next(filter(None, map(self._path, paths)), "")

    def _node(self, node: ast.AST, scope: Scope) -> str:
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
        return next(filter(None, map(self._path, import_paths(node))), "")

    def _attribute(self, node: ast.Attribute, scope: Scope) -> str:
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

    def _call(self, node: ast.Call, scope: Scope) -> str:
        """Judge ``getattr(x, name)``: harmless on self, an offence if the name cannot be read."""
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
        return _says(path) if ruled_out and not is_allowed(path) else _back_door(path)


def _path_through(node: ast.AST, scope: Scope) -> str:
    """Find a back door by its path if nothing else is ruled out: all other ways are harmless."""
    named = isinstance(node, (ast.Attribute, ast.Name))
    paths = [scope.resolve(dotted(node))] if named else import_paths(node)
    return next(filter(None, map(_back_door, paths)), "")


def _bare(node: ast.Name, scope: Scope) -> str:
    """Judge a name that stands alone: a back door, a module, or a function that finds anything."""
    looks_up = node.id in LOOKS_UP - scope.bound and id(node) not in scope.called
    return (
        _says(node.id) if looks_up else _back_door(scope.resolve(node.id)) or _module(node, scope)
    )


def _module(node: ast.Attribute | ast.Name, scope: Scope) -> str:
    """Find a module that is kept or passed on: it could then be used under any name."""
    kept = isinstance(node.ctx, ast.Load) and id(node) not in scope.asked
    return _says(dotted(node)) if kept and scope.resolve(dotted(node)) in MODULES else ""


def _foreign_super(node: ast.Call, scope: Scope) -> str:
    """Find ``super(type(x), x)``: the methods of another object's base class."""
    if dotted(node.func) != "super" or not node.args:
        return ""
    cls, *of = map(dotted, node.args)
    own = cls in scope.classes | {"__class__"} and set(of) <= scope.receivers
    return "" if own else _says(ast.unparse(node)[:60])


def _back_door(path: str) -> str:
    return _says(path) if leading(path) & BACK_DOORS and not is_allowed(path) else ""


def _says(what: str) -> str:
    return (
        f"`{what}` can do what this exercise asks you to build, so the answer was not run: "
        "write it without."
    )
