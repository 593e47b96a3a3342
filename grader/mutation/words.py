"""Describe a piece of code to someone who does not see it."""

import ast
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

_OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "the sum",
    ast.Sub: "the difference",
    ast.Mult: "the product",
    ast.MatMult: "the matrix product",
    ast.Div: "the quotient",
    ast.Pow: "the power",
}
BETWEEN = "an intermediate result"


_FORM_ONLY = {
    "unsqueeze", "squeeze", "view", "reshape", "transpose", "permute", "expand", "float", "to", "T",
    "mT", "contiguous", "clone", "flatten", "unflatten", "long", "double", "item", "tolist",
}  # fmt: skip
_DEPTH = 3
_CONDITIONS: dict[type[ast.AST], str] = {ast.Compare: "a comparison", ast.BoolOp: "a condition"}


class Words:
    """Describes expressions by names that a student knows, never by the answer's own.

    Args:
        known: names that stand in what the student was given.
        meaning: what the answer's own names are set to.

    """

    def __init__(self, known: AbstractSet[str], meaning: Mapping[str, ast.expr]) -> None:
        self._known = known
        self._meaning = meaning

    def of(self, node: ast.AST, depth: int = 0) -> str:
        """Describe an expression in a few words."""
        if depth > _DEPTH:
            return BETWEEN
        match node:
            case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name):
                return self._of_name(name, depth)
            case ast.Attribute():
                return self._of_attribute(node, depth)
            case ast.UnaryOp(operand=operand) | ast.Subscript(value=operand):
                return self.of(operand, depth + 1)
        return self._of_computed(node, depth)

    def _of_computed(self, node: ast.AST, depth: int) -> str:
        match node:
            case ast.Call():
                return self._of_call(node, depth)
            case ast.BinOp():
                return self._of_operation(node, depth)
            case ast.Constant(value=value):
                return f"`{value!r}`"
        return _CONDITIONS.get(type(node), BETWEEN)

    def _of_attribute(self, node: ast.Attribute, depth: int) -> str:
        if node.attr in ("inf", "nan"):
            return f"`{node.attr}`"
        inner = self.of(node.value, depth + 1)
        return inner if node.attr in _FORM_ONLY else f"`{node.attr}` of {inner}"

    def _of_name(self, name: str, depth: int) -> str:
        if name in self._known:
            return f"`{name}`"
        meaning = self._meaning.get(name)
        return BETWEEN if meaning is None else self.of(meaning, depth + 1)

    def _of_call(self, call: ast.Call, depth: int) -> str:
        if called(call) in _FORM_ONLY and isinstance(call.func, ast.Attribute):
            return self.of(call.func.value, depth + 1)
        match call.func:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return f"what `{name}` gives" if name in self._known else BETWEEN
        return f"`{called(call)}(…)`"

    def _of_operation(self, node: ast.BinOp, depth: int) -> str:
        match node.op, node.right:
            case ast.Pow(), ast.Constant(value=0.5):
                return f"the square root of {self.of(node.left, depth + 1)}"
            case ast.Pow(), ast.Constant(value=2):
                return f"the square of {self.of(node.left, depth + 1)}"
        name = _OPERATIONS.get(type(node.op))
        sides = [self.of(side, depth + 1) for side in (node.left, node.right)]
        if name is None or not all(side.startswith("`") for side in sides):
            return name or BETWEEN
        return f"{name} of {sides[0]} and {sides[1]}"


def called(call: ast.Call) -> str:
    """Return the name of the function or method that a call calls."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else "a function"
