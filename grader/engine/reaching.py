"""Whether a piece of code reaches something that an exercise rules out."""

import ast
from collections.abc import Mapping, Sequence
from typing import Final

# Ways to reach anything by another name. No exercise of the course needs one of them.
BACK_DOORS: Final = {
    "eval", "exec", "compile", "globals", "locals", "__import__", "importlib", "sys", "gc",
    "inspect", "ctypes", "operator", "pickle", "marshal", "builtins", "subprocess", "runpy",
    "pkgutil", "torch._C", "torch._refs", "torch._VF", "torch.ops", "torch.jit", "torch._dynamo",
    "torch._decomp", "torch._inductor", "torch.overrides", "torch.utils.cpp_extension",
    "grader", "utils.checks", "utils.blocks", "utils.carry", "get_ipython",
}  # fmt: skip
ALLOWED: Final = {"utils.checks.check"}
SPECIAL: Final = {
    "__dict__", "__globals__", "__builtins__", "__code__", "__closure__", "__getattribute__",
    "__subclasses__", "__mro__", "__bases__", "__base__", "__self__", "__func__", "__wrapped__",
    "__loader__", "__spec__", "f_globals", "f_locals", "f_back", "gi_frame", "tb_frame",
}  # fmt: skip
HOMES: Final = ("torch", "utils")  # where what is ruled out goes by whatever path
METHODS_OF: Final = "torch.Tensor."


def dotted(node: ast.AST) -> str:
    """``a.b.c`` as text; the empty string where it is not a plain chain of names."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


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
        return next((found for node in ast.walk(code) if (found := self._node(node))), "")

    def import_offence(self, name: str, *, defined: bool) -> str:
        """Whether a name that an answer uses was imported from where it must not come."""
        if name in self._aliases:
            return self._path(self._aliases[name])
        if self._stars and not defined and name in self._last:
            return self._path(f"{self._stars[-1]}.{name}")
        return ""

    def _node(self, node: ast.AST) -> str:
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Name):
            return _back_door(self._resolve(node.id))
        if isinstance(node, ast.ImportFrom):
            paths = (f"{node.module}.{alias.name}" for alias in node.names)
            return next((found for path in paths if (found := self._path(path))), "")
        if isinstance(node, ast.Import):
            return next((found for a in node.names if (found := self._path(a.name))), "")
        return ""

    def _attribute(self, node: ast.Attribute) -> str:
        if node.attr in SPECIAL:
            return _says(node.attr)
        path = dotted(node)
        root = path.split(".")[0]
        if root in ("self", "cls"):
            return ""
        resolved = self._resolve(root) + path[len(root) :] if path else ""
        if resolved.startswith(HOMES):
            return self._path(resolved)
        return _says(node.attr) if node.attr in self._methods else _back_door(resolved)

    def _call(self, node: ast.Call) -> str:
        """``getattr(x, name)``: harmless on self, an offence where the name cannot be read."""
        if dotted(node.func) not in ("getattr", "vars", "torch.Tensor.__getattr__"):
            return ""
        if node.args and dotted(node.args[0]).split(".")[0] == "self":
            return ""
        name = node.args[1] if len(node.args) > 1 else None
        if isinstance(name, ast.Constant) and name.value not in self._last | SPECIAL:
            return ""
        return _says(ast.unparse(node)[:60])

    def _resolve(self, name: str) -> str:
        return self._aliases.get(name, name)

    def _path(self, path: str) -> str:
        ruled_out = path.startswith(HOMES) and path.rsplit(".", 1)[-1] in self._last
        return _says(path) if ruled_out else _back_door(path)


def _back_door(path: str) -> str:
    if path in ALLOWED:
        return ""
    parts = path.split(".")
    leading = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
    return _says(path) if leading & BACK_DOORS else ""


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
}  # fmt: skip
INTRUSIVE_ROOTS: Final = {"ctypes", "marshal", "grader", "utils.checks"}


def intrusion(code: ast.AST, aliases: Mapping[str, str]) -> str:
    """What in a piece of code reaches into the running program, if anything does."""
    for node in ast.walk(code):
        path = _path_of(node)
        root = path.split(".")[0]
        resolved = aliases.get(root, root) + path[len(root) :]
        if path.rsplit(".", 1)[-1] in INTRUSIVE or _is_intrusive_root(resolved):
            return path
        if isinstance(node, ast.ImportFrom):
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
            if found := next(filter(_is_intrusive_root, paths), ""):
                return found
    return ""


def _path_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return dotted(node) or node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_intrusive_root(path: str) -> bool:
    parts = path.split(".")
    leading = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
    return path not in ALLOWED and bool(leading & INTRUSIVE_ROOTS)
